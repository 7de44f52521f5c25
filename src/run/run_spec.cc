#include "run/run_spec.h"

#include <algorithm>
#include <cassert>

namespace caip::run {

const ReplicaGroup& RunSpec::GroupOf(const ReplicaId& replica) const {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const ReplicaGroup& group) {
    return group.role == replica.role;
  });
  assert(found != groups.end());
  return *found;
}

bool RunSpec::NeedsPackages() const {
  return std::any_of(groups.begin(), groups.end(), [](const ReplicaGroup& group) {
    return std::holds_alternative<PythonModule>(group.program);
  });
}

std::vector<PlannedReplica> PlanReplicas(const RunSpec& spec) {
  std::vector<PlannedReplica> plan;
  for (const ReplicaGroup& group : spec.groups) {
    for (int index = 0; index < group.count; ++index) plan.push_back({{group.role, index}, ""});
  }
  return plan;
}

}  // namespace caip::run
