// `caip ps`: the jobs that have not ended, and their replicas.

#include "base/encoding.h"
#include "base/json.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/commands/newest_jobs.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/resource_text.h"
#include "harness/events/replica_name.h"

namespace caip::cli {
namespace {

constexpr std::string_view kReplicaColumns = "table(jobId:label=JOB,state,replica,trial,boot,pid)";

bool HasEnded(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELLED";
}

// The jobs of a project that have not ended, oldest first.
Result<std::vector<std::string>> UnendedJobs(client::Connection& connection,
                                             const std::string& project) {
  ASSIGN_OR_RETURN(const std::vector<Json> jobs, JobsOfBothApis(connection, project));
  std::vector<std::string> unended;
  for (const Json& job : jobs) {
    if (!HasEnded(StringOr(job, "state"))) unended.push_back(StringOr(job, "jobId"));
  }
  return unended;
}

// A row for each replica; one without a replica if none runs.
Status AddRows(client::Connection& connection, const std::string& project, const std::string& job,
               Json& rows) {
  const std::string target = "/emulator/v1/projects/" + PercentEncoded(project) + "/jobs/" +
                             PercentEncoded(job) + "/replicas";
  ASSIGN_OR_RETURN(const Json answer, client::CallService(connection, {.target = target}, project));
  const Json row = {{"jobId", job}, {"state", StringOr(answer, "state")}};
  const Json* replicas = Member(answer, "replicas");
  if (!replicas || replicas->empty()) rows.push_back(row);
  for (const Json& replica : replicas ? *replicas : Json::array()) {
    Json full = row;
    full["replica"] = harness::ReplicaName(StringOr(replica, "task"));
    full["trial"] = StringOr(replica, "trial");
    full["boot"] = IntOr(replica, "boot", 1);
    full["pid"] = IntOr(replica, "init", 0);
    rows.push_back(std::move(full));
  }
  return Ok{};
}

Status ListReplicas(const PsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kNone));
  ASSIGN_OR_RETURN(const auto jobs, UnendedJobs(*connection, project));
  Json rows = Json::array();
  for (const std::string& job : jobs) RETURN_IF_ERROR(AddRows(*connection, project, job, rows));
  const std::string format = command.gcloud.format.value_or("table");
  ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(rows, format == "table" ? kReplicaColumns : std::string_view(format)));
  world.io.out(text);
  if (rows.empty() && !command.gcloud.format) world.io.err("No job runs or waits.\n");
  return Ok{};
}

}  // namespace

int RunPs(const PsCommand& command, const Surroundings& world) {
  const Status status = ListReplicas(command, world);
  return status.ok() ? static_cast<int>(kExitSuccess) : Fail(world.io, "ps", status.error());
}

}  // namespace caip::cli
