#pragma once
// Studies for tests of plots.

#include <string>

#include "report/study_view.h"

namespace caip::cli {

inline report::TrialView ATrial(const std::string& id, double rate, const std::string& kind,
                                double value) {
  report::TrialView trial;
  trial.id = id;
  trial.state = "SUCCEEDED";
  trial.values = {{"rate", std::to_string(rate)}, {"kind", kind}};
  trial.curve = {{10, value / 2}, {20, value}};
  trial.final_metric = {20, value};
  trial.start_time = Instant(std::chrono::seconds(100));
  trial.end_time = Instant(std::chrono::seconds(103));
  return trial;
}

/// Eight trials whose outcome depends on their kind.
inline report::StudyView AStudy() {
  report::StudyView study;
  study.job_id = "j";
  study.state = "RUNNING";
  study.metric = "accuracy";
  study.max_trials = 20;
  study.parameters = {{"rate", report::ParameterKind::kRange, tuning::Scale::kLog, {}, 0.01, 1},
                      {"kind", report::ParameterKind::kTexts, tuning::Scale::kLinear, {"a", "b"}}};
  for (int i = 1; i <= 8; ++i) {
    study.trials.push_back(
        ATrial(std::to_string(i), 0.1 * i, i % 2 ? "a" : "b", i % 2 ? 0.9 : 0.1));
  }
  return study;
}

}  // namespace caip::cli
