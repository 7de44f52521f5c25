#pragma once
// The replicas of a job: four roles, each with its names.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "run/replica.h"

namespace caip::ml {

/// A kind of replica. Order = order in listings.
enum class Role { kMaster, kWorker, kParameterServer, kEvaluator };
inline constexpr Role kRoles[] = {Role::kMaster, Role::kWorker, Role::kParameterServer,
                                  Role::kEvaluator};

/// One replica of a cluster: role and zero-based index. The master's index is 0.
struct ReplicaId {
  Role role = Role::kMaster;
  int index = 0;
  auto operator<=>(const ReplicaId&) const = default;
};

/// "master", "worker", "ps", "evaluator": role key of CLUSTER_SPEC (and of TF_CONFIG but for
/// chief).
std::string_view RoleKey(Role role);
std::optional<Role> RoleNamed(std::string_view key);
/// "master-replica-0", "ps-replica-2": the task name of logs and webAccessUris.
std::string TaskName(ReplicaId id);
/// "master 0": the replica in error texts.
std::string ProseName(ReplicaId id);

/// The same replica in the engine's words, where roles are data.
run::ReplicaId RunId(ReplicaId id);
/// The inverse, for replicas of this API's jobs.
ReplicaId IdOf(const run::ReplicaId& id);

}  // namespace caip::ml
