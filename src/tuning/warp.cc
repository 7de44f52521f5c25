#include "tuning/warp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace caip::tuning {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments ComputeMoments(const std::vector<double>& values) {
  Moments moments;
  const double count = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    moments.deviation += (value - moments.mean) * (value - moments.mean) / count;
  }
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

std::vector<double> Standardize(std::vector<double> values) {
  const Moments moments = ComputeMoments(values);
  const double scale = moments.deviation > 0 ? moments.deviation : 1;
  for (double& value : values) value = (value - moments.mean) / scale;
  return values;
}

// Scales values to [0, 1], so that differences of doubles cannot overflow. Infinite values lie a
// little beyond the finite ones.
std::vector<double> ScaleToUnit(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::vector<double> units;
  for (const double value : values) {
    if (std::isfinite(value)) {
      units.push_back(least < most ? (value / 2 - least / 2) / (most / 2 - least / 2) : 0.5);
    } else {
      units.push_back(value > 0 ? 1.1 : -0.1);
    }
  }
  return units;
}

// The quantile of a normal distribution for `p` in (0, 1), by bisection.
double NormalQuantile(double p) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Keeps only the order of the values worse than the median, and spreads them like the other half of
// a normal distribution.
void SpreadBadHalf(std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[(sorted.size() - 1) / 2];
  double spread = 0;
  double good = 0;
  for (const double value : sorted) {
    if (value >= median) break;
    spread += (value - median) * (value - median);
    ++good;
  }
  if (good == 0 || spread == 0) return;
  spread = std::sqrt(spread / good);
  const double count = static_cast<double>(sorted.size());
  for (double& value : values) {
    if (value <= median) continue;
    const auto range = std::equal_range(sorted.begin(), sorted.end(), value);
    const double rank =
        static_cast<double>(range.first - sorted.begin() + (range.second - sorted.begin())) / 2;
    value = median + spread * NormalQuantile(std::min(0.5 + 0.5 * (2 * rank / count - 1), 0.999));
  }
}

double ApplyPower(double x, double power) {
  return power == 0 ? std::log(x) : (std::pow(x, power) - 1) / power;
}

// The likelihood that the transformed values are normally distributed (Box and Cox).
double NormalLikelihood(const std::vector<double>& shifted, double power) {
  std::vector<double> powered;
  double logs = 0;
  for (const double x : shifted) {
    powered.push_back(ApplyPower(x, power));
    logs += std::log(x);
  }
  const double deviation = ComputeMoments(powered).deviation;
  if (!(deviation > 0)) return -std::numeric_limits<double>::infinity();
  return -static_cast<double>(shifted.size()) * std::log(deviation) + (power - 1) * logs;
}

}  // namespace

std::vector<double> WarpObjectives(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<double> shifted = ScaleToUnit(values);
  SpreadBadHalf(shifted);
  shifted = Standardize(std::move(shifted));
  const double least = *std::min_element(shifted.begin(), shifted.end());
  for (double& x : shifted) x += 0.05 - least;
  double best = 1;
  double best_likeness = NormalLikelihood(shifted, 1);
  for (const double power : {0.75, 0.5, 0.25, 0.0}) {
    const double likeness = NormalLikelihood(shifted, power);
    if (likeness > best_likeness) {
      best = power;
      best_likeness = likeness;
    }
  }
  for (double& x : shifted) x = ApplyPower(x, best);
  return Standardize(std::move(shifted));
}

std::vector<double> Scalarize(const std::vector<std::vector<double>>& values, Random& random) {
  if (values.size() == 1) return values.front();
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    weights.push_back(-std::log(1 - random.Unit()));  // uniform over all mixtures
    sum += weights.back();
  }
  std::vector<double> mixed(values.front().size());
  for (size_t row = 0; row < mixed.size(); ++row) {
    double worst = -std::numeric_limits<double>::infinity();
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double part = weights[i] / sum * values[i][row];
      worst = std::max(worst, part);
      total += part;
    }
    mixed[row] = worst + 0.05 * total;
  }
  return Standardize(std::move(mixed));
}

}  // namespace caip::tuning
