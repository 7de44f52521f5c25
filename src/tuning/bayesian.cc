// ALGORITHM_UNSPECIFIED: a Gaussian process learns the objective from the trials that ended. The
// next trial has the greatest expected improvement. Pending trials count as seen, so that parallel
// trials differ. docs/adr/0012-our-own-gaussian-process.md gives the reasons.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "tuning/encoding.h"
#include "tuning/gaussian_process.h"
#include "tuning/optimizer.h"

namespace caip::tuning {
namespace {

constexpr size_t kRowsMax = 300;  // of the model: enough to learn from, and fast

// The encoded trials. `targets` has one value for each row.
struct Evidence {
  std::vector<Coordinates> rows;
  std::vector<double> targets;
  std::vector<Coordinates> pending;
  std::set<Coordinates> known;
  size_t measured = 0;
};

bool IsMeasured(const Trial& trial, size_t metrics) {
  if (!trial.outcome || trial.outcome->infeasible) return false;
  const std::vector<double>& objectives = trial.outcome->objectives;
  return objectives.size() == metrics &&
         std::none_of(objectives.begin(), objectives.end(), [](double x) { return std::isnan(x); });
}

// True if the outcome shows only that the place is bad.
bool IsBad(const Trial& trial) {
  return trial.outcome && (trial.outcome->infeasible || !trial.outcome->objectives.empty());
}

std::vector<double> TargetsOf(const Study& study, const std::vector<const Outcome*>& outcomes,
                              Random& random) {
  std::vector<std::vector<double>> metrics;
  for (size_t metric = 0; metric < study.goals.size(); ++metric) {
    const double sign = study.goals[metric] == Goal::kMaximize ? -1 : 1;
    std::vector<double> values;
    for (const Outcome* outcome : outcomes) values.push_back(sign * outcome->objectives[metric]);
    metrics.push_back(WarpObjectives(values));
  }
  return Scalarize(metrics, random);
}

Evidence CollectEvidence(const Study& study, const Trials& trials, const Encoding& encoding,
                         Random& random) {
  Evidence evidence;
  std::vector<const Outcome*> outcomes;
  std::vector<Coordinates> bad;
  for (const auto& [number, trial] : trials) {
    const Coordinates at = encoding.Encode(trial.point);
    evidence.known.insert(at);
    if (IsMeasured(trial, study.goals.size())) {
      evidence.rows.push_back(at);
      outcomes.push_back(&*trial.outcome);
    } else if (IsBad(trial)) {
      bad.push_back(at);
    } else if (!trial.outcome) {
      evidence.pending.push_back(at);
    }
  }
  evidence.measured = outcomes.size();
  if (outcomes.empty()) return evidence;
  evidence.targets = TargetsOf(study, outcomes, random);
  const double worst = *std::max_element(evidence.targets.begin(), evidence.targets.end());
  for (Coordinates& at : bad) {
    evidence.rows.push_back(std::move(at));
    evidence.targets.push_back(worst);
  }
  return evidence;
}

// Selects the best rows for half of the limit, and random others. Shuffles them, so that each part
// is a fair sample.
void SelectRows(Evidence& evidence, Random& random) {
  std::vector<size_t> order(evidence.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return evidence.targets[a] < evidence.targets[b]; });
  const auto shuffle_from = [&](size_t first) {
    for (size_t i = first; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[i + random.Below(order.size() - i)]);
    }
  };
  if (order.size() > kRowsMax) {
    shuffle_from(kRowsMax / 2);
    order.resize(kRowsMax);
  }
  shuffle_from(0);
  Evidence thinned;
  for (const size_t i : order) {
    thinned.rows.push_back(evidence.rows[i]);
    thinned.targets.push_back(evidence.targets[i]);
  }
  evidence.rows = std::move(thinned.rows);
  evidence.targets = std::move(thinned.targets);
}

// The logarithm of the expected improvement. It has a slope even if the improvement is too small
// for a double.
double LogImprovement(const Prediction& prediction, double best) {
  const double z = (best - prediction.mean) / prediction.deviation;
  const double log_density = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  if (z < -10) return std::log(prediction.deviation) + log_density - 2 * std::log(-z);
  const double share = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return std::log(prediction.deviation) + std::log(z * share + std::exp(log_density));
}

struct Candidate {
  Coordinates at;
  double score = 0;
};

// Searches for the place with the greatest score.
class PlaceSearch {
 public:
  PlaceSearch(const Encoding& encoding, const GaussianProcess& model, const Evidence& evidence,
              double best, Random& random)
      : encoding_(encoding), model_(model), evidence_(evidence), best_(best), random_(random) {}

  Coordinates Run() {
    // The cost of a candidate grows with the rows, so many rows mean fewer candidates.
    const size_t many = evidence_.rows.size() > 150 ? 400 : 1000;
    std::vector<Candidate> candidates = ScoreAll(DrawPlaces(many));
    for (Candidate& near : ScoreAll(DrawNearBest(many / 3))) candidates.push_back(std::move(near));
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    const size_t tops = std::min<size_t>(candidates.size(), evidence_.rows.size() > 150 ? 3 : 5);
    Candidate found = candidates.front();
    for (size_t i = 0; i < tops; ++i) {
      Candidate refined = Refine(candidates[i]);
      if (refined.score > found.score) found = std::move(refined);
    }
    return found.at;
  }

 private:
  std::vector<Coordinates> DrawPlaces(size_t count) {
    std::vector<Coordinates> places;
    std::vector<double> units(encoding_.size());
    for (size_t i = 0; i < count; ++i) {
      for (double& unit : units) unit = random_.Unit();
      places.push_back(encoding_.At(units));
    }
    return places;
  }

  std::vector<Coordinates> DrawNearBest(size_t count) {
    std::vector<size_t> order(evidence_.rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const size_t tops = std::min<size_t>(order.size(), 4);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<long>(tops), order.end(),
        [&](size_t a, size_t b) { return evidence_.targets[a] < evidence_.targets[b]; });
    std::vector<Coordinates> places;
    for (size_t i = 0; i < count; ++i) {
      const double radius = 0.3 * std::pow(0.01, random_.Unit());
      places.push_back(encoding_.Move(evidence_.rows[order[i % tops]], radius, random_));
    }
    return places;
  }

  // Hill climbing with steps that shrink when no candidate of a batch is better.
  Candidate Refine(Candidate from) {
    double radius = 0.1;
    for (int round = 0; round < 24; ++round) {
      std::vector<Coordinates> batch;
      for (int i = 0; i < 12; ++i) batch.push_back(encoding_.Move(from.at, radius, random_));
      std::vector<Candidate> tried = ScoreAll(std::move(batch));
      const auto top = std::max_element(
          tried.begin(), tried.end(),
          [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
      if (top->score > from.score) {
        from = std::move(*top);
      } else {
        radius *= 0.6;
      }
    }
    return from;
  }

  std::vector<Candidate> ScoreAll(std::vector<Coordinates> places) {
    const std::vector<Prediction> predictions = model_.At(places);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < places.size(); ++i) {
      double score = LogImprovement(predictions[i], best_);
      if (evidence_.known.contains(places[i])) score -= 1e6;  // chosen only if there is no other
      candidates.push_back({std::move(places[i]), score});
    }
    return candidates;
  }

  const Encoding& encoding_;
  const GaussianProcess& model_;
  const Evidence& evidence_;
  double best_;
  Random& random_;
};

// Spreads the first trials evenly: a Kronecker sequence by the generalized golden ratio, shifted by
// the seed.
Coordinates SpreadPoint(const Encoding& encoding, uint64_t seed, int64_t number) {
  const double axes = static_cast<double>(encoding.size());
  double ratio = 2;
  for (int i = 0; i < 60; ++i) ratio = std::pow(1 + ratio, 1 / (axes + 1));
  Random shift = Random(seed).Fork("spread");
  std::vector<double> units;
  double stride = 1;
  for (size_t i = 0; i < encoding.size(); ++i) {
    stride /= ratio;
    const double place = shift.Unit() + stride * static_cast<double>(number);
    units.push_back(place - std::floor(place));
  }
  return encoding.At(units);
}

// Returns a point that no trial has, if random draws find one. In small spaces, the sequence
// repeats known points.
Point DrawUnknownPoint(const Study& study, const Trials& trials, const Encoding& encoding,
                       const Evidence& evidence, Random& random) {
  for (int i = 0; i < 100; ++i) {
    Point point = study.space.Draw(random);
    if (!evidence.known.contains(encoding.Encode(point))) return point;
  }
  return SuggestAtRandom(study.space, trials, random);
}

}  // namespace

Point SuggestByBayes(const Study& study, const Trials& trials, int64_t number, uint64_t seed) {
  const Encoding encoding(study.space);
  Random random = Random(seed).Fork("trial " + std::to_string(number));
  Evidence evidence = CollectEvidence(study, trials, encoding, random);
  const size_t first = std::clamp<size_t>(2 * encoding.CountVaryingAxes(), 4, 10);
  if (evidence.measured < 2 || evidence.known.size() < first) {
    const Coordinates at = SpreadPoint(encoding, seed, number);
    if (!evidence.known.contains(at)) return encoding.Decode(at);
    return DrawUnknownPoint(study, trials, encoding, evidence, random);
  }
  SelectRows(evidence, random);
  GaussianProcess model(encoding, evidence.rows, evidence.targets);
  double best = 0;
  for (const Prediction& prediction : model.At(evidence.rows))
    best = std::min(best, prediction.mean);
  model.AddPending(evidence.pending);
  return encoding.Decode(PlaceSearch(encoding, model, evidence, best, random).Run());
}

}  // namespace caip::tuning
