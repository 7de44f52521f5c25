#include "engine/errors.h"

#include "spec/run_texts.h"

namespace caip::engine {
namespace errors {

Error TuningNotImplemented() {
  return {Code::kUnimplemented,
          "Hyperparameter tuning is not implemented yet: the emulator validates jobs with "
          "trainingInput.hyperparameters but cannot run their trials. Submit the job without "
          "hyperparameters, with the values you want in trainingInput.args."};
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

Error NothingToLose(std::string_view job_id, spec::ReplicaId replica) {
  return {Code::kFailedPrecondition, "The replica " + spec::ProseName(replica) + " of job " +
                                         std::string(job_id) +
                                         " is not alive, so its machine cannot be lost."};
}

Error JobNotRunning(std::string_view job_id) {
  return {Code::kFailedPrecondition,
          "The job " + std::string(job_id) + " has ended; it has no machines."};
}

}  // namespace errors

namespace lines {

std::string LostReplica(spec::ReplicaId replica, int status, int signal) {
  return "the replica " + spec::ProseName(replica) + " exited with a non-zero status of " +
         spec::texts::StatusInWords(status, signal) + ".";
}

}  // namespace lines
}  // namespace caip::engine
