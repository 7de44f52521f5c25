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
#include "tuning/value.h"

namespace caip::report {

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

/// DOUBLE and INTEGER: kRange; DISCRETE: kNumbers; CATEGORICAL: kTexts.
enum class ParameterKind { kRange, kNumbers, kTexts };

/// What a parameter is drawn by.
struct ParameterView {
  std::string name;
  ParameterKind kind = ParameterKind::kTexts;
  tuning::Scale scale = tuning::Scale::kLinear;
  std::vector<std::string> choices;  // of kNumbers and kTexts, in their order, as trials have them
  double least = 0;                  // of kRange
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
  /// The succeeded trial with the best value, which may be infinite; nullptr: there is none yet.
  const TrialView* Best() const;
};

/// From the answer of /emulator/v1/projects/P/jobs/J/trials. kFailedPrecondition: the job tunes
/// nothing.
Result<StudyView> ReadStudy(const Json& answer);

/// How much of the objective's variance each parameter explains alone, 0 to 1, in the order of the
/// parameters: the correlation ratio over groups of like values (each text, at most four parts of
/// the numbers), corrected for chance (epsilon squared). nullopt where a group has fewer than two
/// trials on average. Empty with fewer than five succeeded trials.
std::vector<std::optional<double>> ImportanceOf(const StudyView& study);

}  // namespace caip::report
