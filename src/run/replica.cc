#include "run/replica.h"

namespace caip::run {

std::string_view RoleKey(Role role) {
  constexpr std::string_view kKeys[] = {"master", "worker", "ps", "evaluator"};
  return kKeys[static_cast<int>(role)];
}

std::string TaskName(ReplicaId id) {
  return std::string(RoleKey(id.role)) + "-replica-" + std::to_string(id.index);
}

std::string ProseName(ReplicaId id) {
  return std::string(RoleKey(id.role)) + " " + std::to_string(id.index);
}

}  // namespace caip::run
