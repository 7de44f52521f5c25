#pragma once
// The HyperparameterTuningJob resource of aiplatform.googleapis.com and its parts
// (docs/service/vertex.md, section 8). Plain values. Enums stay names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tuning/space.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// The bounds of a parameter. A missing one is 0, because JSON drops zeros.
template <typename Number>
struct ValueRange {
  std::optional<Number> least;
  std::optional<Number> most;
  bool has_default = false;
};

template <typename Value>
struct ValueList {
  std::vector<Value> values;
  bool has_default = false;
};

struct StudyParameter {
  std::string id;
  // Exactly one is set where the job obeys the rules.
  std::optional<ValueRange<double>> doubles;
  std::optional<ValueRange<int64_t>> integers;
  std::optional<ValueList<std::string>> categories;
  std::optional<ValueList<double>> numbers;  // discreteValueSpec
  std::string scale;                         // scaleType
  // Of a conditional parameter: the values of its parent that make it active. Exactly one is set
  // where the job obeys the rules.
  std::optional<std::vector<double>> parent_numbers;
  std::optional<std::vector<int64_t>> parent_integers;
  std::optional<std::vector<std::string>> parent_categories;
  bool has_spec = true;  // false: a condition without a parameterSpec
  std::vector<StudyParameter> children;

  /// nullopt: none of the four kinds of values is set, or several are.
  std::optional<tuning::ValueType> Type() const;
  bool HasScale() const;
  bool HasLogScale() const;
};

struct StudyMetric {
  std::string id;
  std::string goal;  // "MAXIMIZE", "MINIMIZE"; "" and GOAL_TYPE_UNSPECIFIED: none
  bool has_safety_config = false;

  bool HasGoal() const { return goal == "MAXIMIZE" || goal == "MINIMIZE"; }
};

struct StudySpec {
  std::vector<StudyMetric> metrics;
  std::vector<StudyParameter> parameters;
  std::string algorithm;              // "GRID_SEARCH", "RANDOM_SEARCH", else Bayesian
  std::string measurement_selection;  // "BEST_MEASUREMENT", else the last one
  bool stops_by_median = false;
  bool median_uses_duration = false;
  std::vector<std::string> unserved;  // fields that caip does not serve, by their proto names

  bool IsGrid() const { return algorithm == "GRID_SEARCH"; }
};

struct TuningJob {
  /// What each trial runs, with the name, the labels and the key of the tuning job. Its spec is
  /// trialJobSpec.
  CustomJob trial;
  std::optional<StudySpec> study;
  int64_t max_trials = 0;
  int64_t max_parallel = 0;
  int64_t max_failed = 0;
  /// Everything that the client sent, as google/transcoder.h keeps it, without output fields.
  Json plain = Json::object();
};

}  // namespace caip::vertex
