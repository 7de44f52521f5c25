#pragma once
// What the service writes into the log about trials. All ours: no wording is attested.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ml/command_line.h"
#include "ml/job.h"
#include "run/study_step.h"

namespace caip::ml::texts {

/// "Trial 3 begins with learning_rate=0.01, hidden_units=128."; the parameters in their order.
std::string TrialBegins(std::string_view trial, const HyperparameterSpec& spec,
                        const tuning::ValueTexts& values);
/// "Trial 3 succeeded: accuracy is 0.91 at step 1000."
std::string TrialEnded(const HyperparameterOutput& trial, std::string_view metric_tag,
                       std::string_view error_message);
/// "Trial 4 is stopped early: ..."
std::string TrialStopped(std::string_view trial, std::string_view why);
/// "The algorithm has no further values to try: 6 trials cover the grid."
std::string GridExhausted(int64_t trials);
/// "The study of job a goes on: 20 earlier trials are known."
std::string StudyResumed(std::string_view job_id, int64_t trials);

// errorMessages of a tuning job.

/// By `progress`: maxFailedTrials reached, or all failed. `last` is what the last one failed of.
std::string TrialsFailed(const run::StudyProgress& progress, std::string_view trial,
                         std::string_view last);
/// errorMessage of a trial whose job ends without it.
std::string TrialCancelledWithJob();
/// A number as a person wants to read it: "0.91", "1e-05".
std::string ShortNumber(double number);

}  // namespace caip::ml::texts
