// `caip jobs shell`.

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "harness/events/replica_name.h"
#include "host/process/replica_entry.h"

namespace caip::cli {
namespace {

struct Running {
  std::string state;  // of the job
  std::vector<host::LivingReplica> replicas;
};

host::LivingReplica ReadReplica(const Json& json) {
  host::LivingReplica replica;
  replica.task = StringOr(json, "task");
  replica.key.run.trial = StringOr(json, "trial");
  replica.init = static_cast<pid_t>(IntOr(json, "init", 0));
  replica.leader = static_cast<pid_t>(IntOr(json, "leader", 0));
  const Json* machine = Member(json, "machine");
  replica.is_machine = machine && *machine == true;
  replica.directory = StringOr(json, "directory");
  replica.marker = StringOr(json, "marker");
  return replica;
}

Result<Running> AskForReplicas(client::Connection& connection, const std::string& project,
                               const std::string& job) {
  const std::string target = "/emulator/v1/projects/" + PercentEncoded(project) + "/jobs/" +
                             PercentEncoded(job) + "/replicas";
  ASSIGN_OR_RETURN(const Json answer, client::CallService(connection, {.target = target}, project));
  Running running{StringOr(answer, "state"), {}};
  if (const Json* list = Member(answer, "replicas"); list && list->is_array()) {
    for (const Json& one : *list) running.replicas.push_back(ReadReplica(one));
  }
  return running;
}

// "worker-0", of a trial "worker-0 of trial 2".
std::string NameOf(const host::LivingReplica& replica) {
  const std::string name = harness::ReplicaName(replica.task);
  const std::string& trial = replica.key.run.trial;
  return trial.empty() ? name : name + " of trial " + trial;
}

std::vector<std::string> NamesOf(const std::vector<host::LivingReplica>& replicas) {
  std::vector<std::string> names;
  for (const host::LivingReplica& replica : replicas) names.push_back(NameOf(replica));
  std::sort(names.begin(), names.end());
  return names;
}

Result<host::LivingReplica> ChooseReplica(const ShellCommand& command, Running running) {
  const std::vector<std::string> all = NamesOf(running.replicas);
  std::erase_if(running.replicas, [&](const host::LivingReplica& replica) {
    const bool is_named = !command.replica || *command.replica == replica.task ||
                          *command.replica == harness::ReplicaName(replica.task);
    return !is_named || (command.trial && *command.trial != replica.key.run.trial);
  });
  if (running.replicas.size() == 1) return std::move(running.replicas.front());
  if (all.empty()) return errors::NoReplicaRuns(command.job, running.state);
  if (running.replicas.empty()) return errors::ReplicaDoesNotRun(command.job, all);
  return errors::SeveralReplicasRun(command.job, NamesOf(running.replicas));
}

Result<int> Shell(const ShellCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kNone));
  ASSIGN_OR_RETURN(Running running, AskForReplicas(*connection, project, command.job));
  ASSIGN_OR_RETURN(const host::LivingReplica replica, ChooseReplica(command, std::move(running)));
  return host::RunInReplica(replica, command.command,
                            [&world](std::string_view text) { world.io.err(text); });
}

}  // namespace

int RunShell(const ShellCommand& command, const Surroundings& world) {
  const Result<int> ended = Shell(command, world);
  return ended.ok() ? *ended : Fail(world.io, "jobs.shell", ended.error());
}

}  // namespace caip::cli
