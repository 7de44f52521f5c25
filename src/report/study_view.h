#pragma once
// A tuning job for display: its trials with their curves, and the best one.

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

/// One trial. `curve` has its reports, step and value, in the order of their arrival.
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

/// A parameter as it is drawn.
struct ParameterView {
  std::string name;
  ParameterKind kind = ParameterKind::kTexts;
  tuning::Scale scale = tuning::Scale::kLinear;
  std::vector<std::string>
      choices;       // of kNumbers and kTexts, in the order and with the texts of trials
  double least = 0;  // of kRange
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
  /// The succeeded trial with the best value, which may be infinite; nullptr if no trial has
  /// succeeded.
  const TrialView* Best() const;
};

/// Reads a response of /emulator/v1/projects/P/jobs/J/trials. kFailedPrecondition: the job is not a
/// tuning job.
Result<StudyView> ReadStudy(const Json& answer);

/// How much of the objective's variance each parameter explains alone, 0 to 1, in the order of the
/// parameters: the correlation ratio over groups of similar values (one for each text, at most four
/// ranges of numbers), corrected for chance (epsilon squared). nullopt if groups have fewer than
/// two trials on average. Empty with fewer than five succeeded trials.
std::vector<std::optional<double>> ImportanceOf(const StudyView& study);

}  // namespace caip::report
