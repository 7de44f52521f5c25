#include "engine/errors.h"

#include "base/quoting.h"

namespace caip::engine::errors {

Error ApiUnknown(std::string_view name) {
  return {Code::kUnimplemented, "This emulator has no job API " + Quoted(name) + "."};
}

Error EngineStopped() {
  return {Code::kUnavailable, "The emulator is shutting down; try again when it is up."};
}

Error NotSavedYet(const Error& cause) {
  return {Code::kUnavailable,
          "The job's state cannot be saved at the moment and is tried again each second: " +
              cause.message};
}

Error NothingToLose(std::string_view job_id, std::string_view replica) {
  return {Code::kFailedPrecondition, "The replica " + std::string(replica) + " of job " +
                                         std::string(job_id) +
                                         " is not alive, so its machine cannot be lost."};
}

Error JobHasNotEnded(std::string_view job_id) {
  return {Code::kFailedPrecondition,
          "The job " + std::string(job_id) + " has not ended. Cancel it, and wait for its end."};
}

Error JobNotRunning(std::string_view job_id) {
  return {Code::kFailedPrecondition,
          "The job " + std::string(job_id) + " has ended; it has no machines."};
}

Error StoredJobUnreadable(std::string_view job, const Error& cause) {
  return {Code::kDataLoss,
          "The stored job '" + std::string(job) + "' cannot be read: " + cause.message};
}

Error RunNoteUnreadable(std::string_view what) {
  return {Code::kDataLoss, "the state directory holds a run that cannot be read: " +
                               std::string(what) + " is missing or malformed"};
}

}  // namespace caip::engine::errors
