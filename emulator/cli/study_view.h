#pragma once
// A tuning job as a person looks at it: its trials with their curves, and which one is best.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// One trial. `curve` are its reports as they came: step and value.
struct TrialView {
  std::string id;
  std::string state;
  std::map<std::string, std::string> values;
  std::vector<std::pair<int64_t, double>> curve;
  std::optional<std::pair<int64_t, double>> final_metric;
  bool stopped_early = false;
  std::optional<Instant> start_time;
  std::optional<Instant> end_time;
};

/// What a parameter is drawn by.
struct ParameterView {
  std::string name;
  bool is_number = false;
  bool logarithmic = false;
  std::vector<std::string> choices;  // of CATEGORICAL and DISCRETE, in their order
  double least = 0;                  // of DOUBLE and INTEGER
  double most = 1;
};

struct StudyView {
  std::string job_id;
  std::string state;
  std::string metric;
  bool maximize = true;
  int64_t max_trials = 1;
  std::vector<ParameterView> parameters;
  std::vector<TrialView> trials;  // by number

  bool IsBetter(double a, double b) const { return maximize ? a > b : a < b; }
  /// The succeeded trial with the best number; nullptr: there is none yet.
  const TrialView* Best() const;
};

/// From the answer of /emulator/v1/projects/P/jobs/J/trials. kFailedPrecondition: the job tunes
/// nothing.
Result<StudyView> ReadStudy(const Json& answer);

/// How much of the objective's variance each parameter explains alone, 0 to 1, in the order of the
/// parameters: the correlation ratio over at most four groups of like values, corrected for chance
/// (epsilon squared). Empty with fewer than five succeeded trials.
std::vector<double> ImportanceOf(const StudyView& study);

}  // namespace caip::cli
