#include "emulator/cli/ai/ai_texts.h"

namespace caip::cli::ai_texts {
namespace {

using client::vertex::JobKind;

constexpr char kStillActive[] =
    "Your job is still active. You may view the status of your job with the command\n\n  $ caip "
    "ai ";

}  // namespace

std::string UsingEndpoint(std::string_view url) {
  return "Using endpoint [" + std::string(url) + "/]\n";
}

std::string CustomJobSubmitted(std::string_view name) {
  const std::string job(name);
  return "CustomJob [" + job + "] is submitted successfully.\n\n" + kStillActive +
         "custom-jobs describe " + job +
         "\n\nor continue streaming the logs with the command\n\n  $ caip ai custom-jobs "
         "stream-logs " +
         job + "\n";
}

std::string TuningJobSubmitted(std::string_view id, std::string_view region,
                               std::string_view state) {
  const std::string job(id);
  return "Hyperparameter tuning job [" + job + "] submitted successfully.\n\n" + kStillActive +
         "hp-tuning-jobs describe " + job + " --region=" + std::string(region) +
         "\n\nJob State: " + std::string(state) + "\n";
}

std::string CancelSent(const client::vertex::JobName& job) {
  const bool is_custom = job.kind == JobKind::kCustomJob;
  const std::string shown = is_custom ? job.text() : job.id;
  const std::string region = is_custom ? "" : " --region=" + job.location.region;
  return "Request to cancel " + std::string(is_custom ? "CustomJob" : "hyperparameter tuning job") +
         " [" + shown +
         "] has been sent.\n\nYou may view the status of your job with the command\n\n  $ caip "
         "ai " +
         std::string(WordsOf(job.kind).command) + " describe " + shown + region + "\n\n";
}

std::string PackageIsSet(std::string_view directory) {
  return "Package is set to " + std::string(directory) + ".\n";
}

std::string StartingToRun() { return "Starting to run ...\n"; }

std::string LocalRunFinished(std::string_view image) {
  return "A local run is finished successfully using custom image: " + std::string(image) + ".\n";
}

std::string LocalRunEnded(std::string_view state) {
  return "The run ended in the state " + std::string(state) + ".";
}

Error WithFilterLanguage(Error error) {
  error.message +=
      "\n--filter uses the service's language (display_name:\"census*\" AND "
      "state=\"JOB_STATE_FAILED\"). gcloud's own language is not supported.";
  return error;
}

}  // namespace caip::cli::ai_texts
