#include "harness/scenario/job_kind.h"

#include <algorithm>
#include <array>

#include "vertex/cluster.h"

namespace caip::harness {
namespace {

constexpr std::array<std::string_view, 4> kPoolRoles = {"master", "worker", "ps", "evaluator"};

}  // namespace

const std::vector<const JobKind*>& JobKinds() {
  static const std::vector<const JobKind*> kinds = {&TrainingJobs(), &CustomJobs(), &TuningJobs()};
  return kinds;
}

bool HasCluster(const JobKind& kind, const Json& document) {
  return kind.ReplicasOf(document).size() > 1;
}

bool IsFirstReplica(const std::string& replica) {
  return replica == "master-0" || replica == vertex::ReplicaName({vertex::PoolRole(0), 0});
}

std::string NameInPools(const std::string& replica) {
  const size_t dash = std::min(replica.rfind('-'), replica.size());
  const std::string word = replica.substr(0, dash);
  const std::string index = dash == replica.size() ? "-0" : replica.substr(dash);
  for (size_t pool = 0; pool < kPoolRoles.size(); ++pool) {
    const bool is_chief = pool == 0 && word == "chief";
    if (is_chief || word == kPoolRoles[pool]) return vertex::PoolRole(pool) + index;
  }
  return replica;
}

std::string RoleOf(const std::string& replica) {
  const std::string role = replica.substr(0, replica.rfind('-'));
  for (size_t pool = 0; pool < kPoolRoles.size(); ++pool) {
    if (role == vertex::PoolRole(pool)) return std::string(kPoolRoles[pool]);
  }
  return role;
}

}  // namespace caip::harness
