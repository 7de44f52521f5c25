#include "ml/trial_texts.h"

#include <cstdio>

namespace caip::ml::texts {
namespace {

std::string TrialText(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

std::string InWords(run::JobState state) {
  switch (state) {
    case run::JobState::kSucceeded:
      return " succeeded";
    case run::JobState::kFailed:
      return " failed";
    default:
      return " was cancelled";
  }
}

}  // namespace

std::string ShortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string TrialBegins(std::string_view trial, const HyperparameterSpec& spec,
                        const tuning::ValueTexts& values) {
  std::string text = TrialText({"Trial ", trial, " begins with "});
  const char* separator = "";
  for (const ParameterSpec& parameter : spec.params) {
    const auto value = values.find(parameter.parameter_name);
    if (value == values.end()) continue;
    text += separator + value->first + "=" + value->second;
    separator = ", ";
  }
  return text + ".";
}

std::string TrialEnded(const HyperparameterOutput& trial, std::string_view metric_tag,
                       std::string_view error_message) {
  std::string text = TrialText({"Trial ", trial.trial_id, InWords(trial.state)});
  if (trial.final_metric) {
    text += TrialText({": ", metric_tag, " is ", ShortNumber(trial.final_metric->second),
                       " at step ", std::to_string(trial.final_metric->first), "."});
  } else if (trial.state == run::JobState::kSucceeded) {
    text += TrialText({". It has reported no value of ", metric_tag, "."});
  } else {
    text += ".";
  }
  if (trial.state == run::JobState::kFailed) text += TrialText({" ", error_message});
  return text;
}

std::string TrialStopped(std::string_view trial, std::string_view why) {
  return TrialText({"Trial ", trial, " is stopped early: ", why});
}

std::string GridExhausted(int64_t trials) {
  return TrialText({"There are no further values to try: ", std::to_string(trials),
                    trials == 1 ? " trial covers" : " trials cover", " the whole grid."});
}

std::string StudyResumed(std::string_view job_id, int64_t trials) {
  return TrialText({"The study of job ", job_id, " goes on: ", std::to_string(trials),
                    trials == 1 ? " earlier trial is" : " earlier trials are", " known."});
}

std::string TrialCancelledWithJob() { return "The job has ended before the trial did."; }

std::string TrialsFailed(const run::StudyProgress& progress, std::string_view trial,
                         std::string_view last) {
  const std::string failed = std::to_string(progress.failed);
  std::string text;
  if (progress.max_failed > 0 && progress.failed >= progress.max_failed) {
    text = TrialText({failed, progress.failed == 1 ? " trial has" : " trials have",
                      " failed, and hyperparameters.maxFailedTrials is ",
                      std::to_string(progress.max_failed), "."});
  } else {
    text = progress.failed == 1
               ? "The only trial that has ended has failed."
               : TrialText({"All ", failed, " trials that have ended have failed."});
  }
  return text + TrialText({" Trial ", trial, " was the last: ", last});
}

}  // namespace caip::ml::texts
