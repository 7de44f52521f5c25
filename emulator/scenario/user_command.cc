#include "emulator/scenario/user_command.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/process/child_process.h"

namespace caip::scenario {
namespace {

// A user's values of these count more than the job's.
constexpr std::string_view kUserVariables[] = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "SHELL"};
constexpr std::string_view kModulesVariable = "PYTHONPATH";  // the job's come first
// They name places of the user's shell.
constexpr std::string_view kShellVariables[] = {"PWD", "OLDPWD", "TMPDIR", "SSH_AUTH_SOCK", "_"};
constexpr std::string_view kClusterVariables[] = {"TF_CONFIG", "CLUSTER_SPEC"};
constexpr char kMasterPort[] = "29500";  // torchrun's default

bool IsOneOf(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void Set(const std::string& name, std::string value, engine::Environment& environment) {
  std::erase_if(environment, [&name](const auto& variable) { return variable.first == name; });
  environment.emplace_back(name, std::move(value));
}

}  // namespace

void InheritEnvironment(engine::ReplicaLaunch& launch) {
  std::map<std::string, std::string> variables;
  for (auto& [name, value] : host::OwnEnvironment()) {
    if (!IsOneOf(kShellVariables, name)) variables[name] = value;
  }
  for (auto& [name, value] : launch.environment) {
    if (IsOneOf(kClusterVariables, name)) continue;
    const auto own = variables.find(name);
    const bool has_own = own != variables.end();
    if (has_own && name == kModulesVariable) {
      own->second = value + ":" + own->second;
    } else if (!has_own || !IsOneOf(kUserVariables, name)) {
      variables[name] = value;
    }
  }
  launch.environment.assign(variables.begin(), variables.end());
  launch.sees_home = true;
}

void BecomeMember(const std::vector<harness::ClusterMember>& members,
                  const std::vector<std::vector<std::string>>& commands,
                  engine::ReplicaLaunch& launch) {
  const std::vector<engine::ReplicaPeer>& peers = launch.machine.peers;
  for (size_t i = 0; i < std::min(peers.size(), members.size()); ++i) {
    if (launch.isolation) {
      launch.isolation->hosts += peers[i].host + " " + members[i].name + "\n";
    }
    if (peers[i].replica != launch.key.replica) continue;
    launch.machine.host_name = members[i].name;
    if (auto* image = std::get_if<run::ContainerImage>(&launch.program)) {
      image->entrypoint = commands[i];
    }
  }
}

void SetRankVariables(engine::ReplicaLaunch& launch) {
  const std::vector<engine::ReplicaPeer>& peers = launch.machine.peers;
  const auto mine = std::ranges::find(peers, launch.key.replica, &engine::ReplicaPeer::replica);
  if (mine == peers.end()) return;
  const std::string rank = std::to_string(mine - peers.begin());
  const std::string size = std::to_string(peers.size());
  const engine::ReplicaPeer& first = peers.front();
  engine::Environment& environment = launch.environment;
  for (const char* name : {"RANK", "GROUP_RANK", "ROLE_RANK"}) Set(name, rank, environment);
  for (const char* name : {"WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"}) {
    Set(name, size, environment);
  }
  Set("LOCAL_RANK", "0", environment);
  Set("LOCAL_WORLD_SIZE", "1", environment);
  Set("MASTER_ADDR", launch.isolation ? first.host_name : first.host, environment);
  Set("MASTER_PORT", kMasterPort, environment);
  Set("TORCHELASTIC_RESTART_COUNT", std::to_string(launch.key.boot - 1), environment);
  Set("TORCHELASTIC_RUN_ID", launch.key.run.job_id, environment);
}

}  // namespace caip::scenario
