#include "vertex/cluster.h"

#include <cassert>

namespace caip::vertex {
namespace {

constexpr std::string_view kPoolRolePrefix = "workerpool";
constexpr std::string_view kTaskTypes[] = {"chief", "worker", "ps", "evaluator"};

}  // namespace

std::string PoolRole(size_t pool) { return std::string(kPoolRolePrefix) + std::to_string(pool); }

size_t PoolOf(const run::ReplicaId& replica) {
  assert(replica.role.size() == kPoolRolePrefix.size() + 1 && "a role of another API");
  return static_cast<size_t>(replica.role.back() - '0');
}

std::string ReplicaName(const run::ReplicaId& replica) {
  return replica.role + "-" + std::to_string(replica.index);
}

std::string HostName(const run::ReplicaId& replica, std::string_view host_id) {
  return "cmle-training-" + replica.role + "-" + std::string(host_id) + "-" +
         std::to_string(replica.index);
}

std::string_view TaskType(size_t pool) {
  assert(pool < std::size(kTaskTypes));
  return kTaskTypes[pool];
}

}  // namespace caip::vertex
