#include "engine/errors.h"

#include "ml/run_texts.h"

namespace caip::engine {
namespace errors {

Error NotResumable(const std::vector<std::string>& reasons) {
  const std::string field = "hyperparameters.resume_previous_job_id";
  Error error{Code::kInvalidArgument, "Field: " + field + " Error: " + reasons.front(), {}};
  for (const std::string& reason : reasons) error.violations.push_back({field, reason});
  return error;
}

std::string ResumedMissing(std::string_view job_id) {
  return "There is no job '" + std::string(job_id) +
         "' in this project. Name an earlier tuning job, or leave the field out.";
}

std::string ResumedNotTuning(std::string_view job_id) {
  return "The job '" + std::string(job_id) +
         "' has no hyperparameters, so it has no trials to go on from.";
}

std::string ResumedNotFinished(std::string_view job_id) {
  return "The job '" + std::string(job_id) +
         "' has not ended. Its trials can be gone on from when it has.";
}

std::string ResumedDiffers(std::string_view job_id, std::string_view field) {
  return "The job '" + std::string(job_id) + "' has other " + std::string(field) +
         ". A study is gone on with under the same params, goal and metric tag.";
}

FieldViolation ImageNotMapped(std::string field, std::string_view uri) {
  const std::string image(uri);
  return {std::move(field),
          "The image '" + image +
              "' is not mapped to a local command, and the emulator does not pull images. Say what "
              "its entrypoint is here: --map-image '" +
              image + "=COMMAND' (or `images:` in the configuration)."};
}

Error ImagesNotMapped(const std::vector<FieldViolation>& violations) {
  const FieldViolation& first = violations.front();
  return {Code::kFailedPrecondition, "Field: " + first.field + " Error: " + first.description,
          violations};
}

Error EngineStopped() {
  return {Code::kUnavailable, "The emulator is shutting down; try again when it is up."};
}

Error NotSavedYet(const Error& cause) {
  return {Code::kUnavailable,
          "The job's state cannot be saved at the moment and is tried again each second: " +
              cause.message};
}

Error NothingToLose(std::string_view job_id, run::ReplicaId replica) {
  return {Code::kFailedPrecondition, "The replica " + run::ProseName(replica) + " of job " +
                                         std::string(job_id) +
                                         " is not alive, so its machine cannot be lost."};
}

Error JobNotRunning(std::string_view job_id) {
  return {Code::kFailedPrecondition,
          "The job " + std::string(job_id) + " has ended; it has no machines."};
}

}  // namespace errors

namespace lines {

std::string LostReplica(run::ReplicaId replica, int status, int signal) {
  return "the replica " + run::ProseName(replica) + " exited with a non-zero status of " +
         ml::texts::StatusInWords(status, signal) + ".";
}

}  // namespace lines
}  // namespace caip::engine
