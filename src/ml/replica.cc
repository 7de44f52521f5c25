#include "ml/replica.h"

#include <cassert>

namespace caip::ml {

std::string_view RoleKey(Role role) {
  constexpr std::string_view kKeys[] = {"master", "worker", "ps", "evaluator"};
  return kKeys[static_cast<int>(role)];
}

std::optional<Role> RoleNamed(std::string_view key) {
  for (const Role role : kRoles) {
    if (RoleKey(role) == key) return role;
  }
  return std::nullopt;
}

std::string TaskName(ReplicaId id) { return run::Name(RunId(id)); }

std::string ProseName(ReplicaId id) {
  return std::string(RoleKey(id.role)) + " " + std::to_string(id.index);
}

run::ReplicaId RunId(ReplicaId id) { return {std::string(RoleKey(id.role)), id.index}; }

ReplicaId IdOf(const run::ReplicaId& id) {
  const std::optional<Role> role = RoleNamed(id.role);
  assert(role && "a role of another API");
  return {role.value_or(Role::kMaster), id.index};
}

}  // namespace caip::ml
