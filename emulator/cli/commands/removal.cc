// `caip jobs delete` and `caip clean`.

#include "base/clock.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/commands/newest_jobs.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

Status RemoveJob(client::Connection& connection, const std::string& project, const std::string& job,
                 bool keeps_id) {
  const auto answer =
      client::CallService(connection,
                          {.method = "DELETE",
                           .target = "/emulator/v1/projects/" + PercentEncoded(project) + "/jobs/" +
                                     PercentEncoded(job) + (keeps_id ? "?keepsId=true" : "")},
                          project);
  return answer.ok() ? Status(Ok{}) : Status(answer.error());
}

// Each job that can be removed is removed. Returns the exit code.
Result<int> Delete(const DeleteCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  int exit_code = kExitSuccess;
  for (const std::string& job : command.jobs) {
    const Status removed = RemoveJob(*connection, project, job, command.strict);
    if (removed.ok()) {
      world.io.err("Deleted job [" + job + "].\n");
    } else {
      exit_code = Fail(world.io, "jobs.delete", job + ": " + removed.error().message);
    }
  }
  return exit_code;
}

// The jobs of a project that ended before `limit`, oldest first.
Result<std::vector<std::string>> EndedBefore(client::Connection& connection,
                                             const std::string& project, Instant limit) {
  ASSIGN_OR_RETURN(const std::vector<Json> jobs, JobsOfBothApis(connection, project));
  std::vector<std::string> ended;
  for (const Json& job : jobs) {
    const auto end = ParseRfc3339(StringOr(job, "endTime"));
    if (end && *end <= limit) ended.push_back(StringOr(job, "jobId"));
  }
  return ended;
}

std::string Counted(size_t jobs) { return std::to_string(jobs) + (jobs == 1 ? " job" : " jobs"); }

Status Clean(const CleanCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  // Waits in queues may have put the emulator's time ahead of this host's.
  const bool takes_all = command.older_than == Duration(0);
  const Instant limit = takes_all ? Instant::max() : SystemClock().Now() - command.older_than;
  ASSIGN_OR_RETURN(const auto jobs, EndedBefore(*connection, project, limit));
  for (const std::string& job : jobs) {
    if (!command.dry_run) RETURN_IF_ERROR(RemoveJob(*connection, project, job, command.strict));
    world.io.out(job + "\n");
  }
  world.io.err((command.dry_run ? "Would delete " : "Deleted ") + Counted(jobs.size()) + ".\n");
  return Ok{};
}

}  // namespace

int RunDelete(const DeleteCommand& command, const Surroundings& world) {
  const Result<int> ended = Delete(command, world);
  return ended.ok() ? *ended : Fail(world.io, "jobs.delete", ended.error());
}

int RunClean(const CleanCommand& command, const Surroundings& world) {
  const Status status = Clean(command, world);
  return status.ok() ? static_cast<int>(kExitSuccess) : Fail(world.io, "clean", status.error());
}

}  // namespace caip::cli
