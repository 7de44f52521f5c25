// Measures the optimizer: the best value after 30, 60 and 100 trials on five functions, for each
// seed, and the time of a suggestion with 1,000 finished trials.
//
//   bench_tuning [ALGORITHM [FUNCTION [SEEDS [TRIALS]]]]
//   bench_tuning latency
//
// ALGORITHM: "bayesian", "random", and for a study that is resumed after 20 trials: "resumed" by a
// job with another seed, "resumed_same" by one with the same seed. FUNCTION: its name, or "".
//
// Prints lines like those of bench/tuning_peers.py; bench/tuning_table.py makes tables of them.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "base/random.h"
#include "ml/study.h"
#include "tuning/optimizer.h"

namespace {

using caip::Random;
using namespace caip::tuning;

double Of(const Point& point, const std::string& name) {
  const Value& value = point.at(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

double Axis(const Point& point, size_t i) { return Of(point, "x" + std::to_string(i)); }

double Branin(const Point& at) {
  constexpr double kPi = std::numbers::pi;
  const double a = Axis(at, 1);
  const double b = Axis(at, 2);
  const double valley = b - 5.1 / (4 * kPi * kPi) * a * a + 5 / kPi * a - 6;
  return valley * valley + 10 * (1 - 1 / (8 * kPi)) * std::cos(a) + 10;
}

template <size_t N>
double Hartmann(const Point& at, const double (&scales)[4][N], const double (&centres)[4][N]) {
  constexpr double kHeights[4] = {1.0, 1.2, 3.0, 3.2};
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    double distance = 0;
    for (size_t j = 0; j < N; ++j) {
      const double away = Axis(at, j + 1) - centres[i][j];
      distance += scales[i][j] * away * away;
    }
    sum += kHeights[i] * std::exp(-distance);
  }
  return -sum;
}

double Hartmann6(const Point& at) {
  constexpr double kScales[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                    {0.05, 10, 17, 0.1, 8, 14},
                                    {3, 3.5, 1.7, 10, 17, 8},
                                    {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kCentres[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                     {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                     {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                     {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  return Hartmann(at, kScales, kCentres);
}

double Hartmann3(const Point& at) {
  constexpr double kScales[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
  constexpr double kCentres[4][3] = {{0.3689, 0.1170, 0.2673},
                                     {0.4699, 0.4387, 0.7470},
                                     {0.1091, 0.8732, 0.5547},
                                     {0.0381, 0.5743, 0.8828}};
  return Hartmann(at, kScales, kCentres);
}

double Rosenbrock(const Point& at) {
  double sum = 0;
  for (size_t i = 1; i < 4; ++i) {
    const double a = Axis(at, i);
    const double b = Axis(at, i + 1);
    sum += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
  }
  return sum;
}

// Resembles the loss of a network: the best rate depends on the optimizer, the depth on the
// activation.
double Network(const Point& at) {
  const std::string& optimizer = std::get<std::string>(at.at("optimizer"));
  const std::string& activation = std::get<std::string>(at.at("activation"));
  const std::map<std::string, std::pair<double, double>> optimizers = {
      {"sgd", {-1, 0.3}}, {"momentum", {-2, 0.12}}, {"adam", {-3, 0}}, {"rmsprop", {-3.5, 0.08}}};
  const std::map<std::string, std::pair<double, double>> activations = {
      {"relu", {9, 0.1}}, {"tanh", {4, 0.25}}, {"gelu", {12, 0}}};
  const auto [best_rate, floor] = optimizers.at(optimizer);
  const auto [best_depth, slope] = activations.at(activation);
  const double rate = std::log10(Of(at, "rate")) - best_rate;
  const double depth = Of(at, "depth") - best_depth;
  return floor + slope + 0.15 * rate * rate + 0.01 * depth * depth +
         0.06 * std::fabs(std::log2(Of(at, "width")) - 7) +
         0.5 * std::fabs(Of(at, "dropout") - 0.2);
}

std::vector<caip::ml::ParameterSpec> Reals(int count, double least, double most,
                                           const std::string& scale = "") {
  std::vector<caip::ml::ParameterSpec> params;
  for (int i = 1; i <= count; ++i) {
    params.push_back({"x" + std::to_string(i), "DOUBLE", least, most, {}, {}, scale});
  }
  return params;
}

struct Function {
  std::string name;
  double (*call)(const Point&);
  std::vector<caip::ml::ParameterSpec> params;
  double noise = 0;
};

std::vector<Function> Functions() {
  auto branin = Reals(2, -5, 10);
  branin[1].min_value = 0;
  branin[1].max_value = 15;
  return {{"branin", Branin, branin},
          {"hartmann6", Hartmann6, Reals(6, 0, 1)},
          {"rosenbrock4_log", Rosenbrock, Reals(4, 0.1, 30, "UNIT_LOG_SCALE")},
          {"mixed",
           Network,
           {{"rate", "DOUBLE", 1e-5, 1, {}, {}, "UNIT_LOG_SCALE"},
            {"depth", "INTEGER", 1, 20, {}, {}, ""},
            {"width", "DISCRETE", {}, {}, {16, 32, 64, 128, 256, 512}, {}, ""},
            {"dropout", "DISCRETE", {}, {}, {0, 0.1, 0.2, 0.3, 0.4, 0.5}, {}, ""},
            {"optimizer", "CATEGORICAL", {}, {}, {}, {"sgd", "momentum", "adam", "rmsprop"}, ""},
            {"activation", "CATEGORICAL", {}, {}, {}, {"relu", "tanh", "gelu"}, ""}}},
          {"hartmann3_noisy", Hartmann3, Reals(3, 0, 1), 0.2}};
}

Study StudyFor(const Function& function, const std::string& algorithm) {
  caip::ml::HyperparameterSpec spec;
  spec.goal = "MINIMIZE";
  spec.params = function.params;
  spec.algorithm = algorithm == "random" ? "RANDOM_SEARCH" : "";
  return caip::ml::StudyOf(spec);
}

double NoiseOf(uint64_t seed, int64_t trial) {
  return Random(seed * 1000003 + static_cast<uint64_t>(trial)).Normal();
}

// The optimizer of a job that resumes the study of an earlier job.
Optimizer Resumed(const Study& study, uint64_t seed, const Trials& earlier) {
  Optimizer later(study, seed);
  for (const auto& [number, trial] : earlier) {
    later.Add(number, trial.point);
    later.Tell(number, *trial.outcome);
  }
  return later;
}

void RunStudy(const Function& function, const std::string& algorithm, uint64_t seed,
              int64_t trials) {
  const auto started = std::chrono::steady_clock::now();
  const Study study = StudyFor(function, algorithm);
  Optimizer optimizer(study, seed);
  double seen = std::numeric_limits<double>::infinity();
  double best = seen;
  std::string values;
  for (int64_t trial = 1; trial <= trials; ++trial) {
    if (trial == 21 && algorithm.starts_with("resumed")) {
      const uint64_t own = algorithm == "resumed" ? seed + 1000 : seed;
      optimizer = Resumed(study, own, optimizer.trials());
    }
    const double value = function.call(*optimizer.Ask(trial));
    const double observed = value + function.noise * NoiseOf(seed, trial);
    optimizer.Tell(trial, {{observed}});
    if (observed < seen) {
      seen = observed;
      best = value;
    }
    if (trial == 30 || trial == 40 || trial == 60 || trial == 100) {
      values += (values.empty() ? "" : ", ") + TextOf(best);
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf(
      "{\"optimizer\": \"caip_%s\", \"function\": \"%s\", \"seed\": %d, \"best\": [%s], "
      "\"seconds\": %.2f}\n",
      algorithm.c_str(), function.name.c_str(), static_cast<int>(seed), values.c_str(), seconds);
  std::fflush(stdout);
}

void Latency() {
  for (const Function& function : Functions()) {
    Optimizer optimizer(StudyFor(function, "bayesian"), 1);
    Random random(1);
    for (int64_t trial = 1; trial <= 1000; ++trial) {
      const Point point = optimizer.study().space.Draw(random);
      optimizer.Add(trial, point);
      optimizer.Tell(trial, {{function.call(point)}});
    }
    std::vector<double> took;
    const std::clock_t before = std::clock();
    for (int64_t trial = 1001; trial <= 1011; ++trial) {
      const auto started = std::chrono::steady_clock::now();
      optimizer.Ask(trial);
      took.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    }
    const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / 11;
    std::sort(took.begin(), took.end());
    std::printf(
        "%s: suggestion with 1,000 finished trials: median %.0f ms, most %.0f ms; of the processor "
        "%.0f ms\n",
        function.name.c_str(), took[took.size() / 2] * 1e3, took.back() * 1e3, busy * 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string algorithm = argc > 1 ? argv[1] : "bayesian";
  const std::string only = argc > 2 ? argv[2] : "";
  const int seeds = argc > 3 ? std::atoi(argv[3]) : 20;
  const int trials = argc > 4 ? std::atoi(argv[4]) : 100;
  if (algorithm == "latency") {
    Latency();
    return 0;
  }
  for (const Function& function : Functions()) {
    if (!only.empty() && only != function.name) continue;
    for (int seed = 1; seed <= seeds; ++seed) {
      RunStudy(function, algorithm, static_cast<uint64_t>(seed), trials);
    }
  }
}
