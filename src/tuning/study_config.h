#pragma once
// Reads and checks a StudyConfig of the optimizer API (REST
// reference, projects.locations.studies; docs/service/api.md, section 9).

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "tuning/optimizer.h"
#include "tuning/stopping.h"

namespace caip::tuning {

/// The most metrics of a study (chosen: the service states no limit).
inline constexpr size_t kMetricsMax = 100;

enum class StoppingRule { kNone, kMedian, kDecayCurve };

struct StudyConfig {
  Study study;
  std::vector<std::string> metrics;  // in the order of study.goals
  StoppingRule stopping = StoppingRule::kNone;
  Progress progress = Progress::kSteps;
};

/// Reads a plain tree of ml::StudySchema's studyConfig. Reports all violations at once. Their
/// fields begin with "study.study_config".
Result<StudyConfig> ReadStudyConfig(const Json& plain);

}  // namespace caip::tuning
