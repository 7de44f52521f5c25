#include "run/replica.h"

namespace caip::run {

std::string Name(const ReplicaId& replica) {
  if (replica.role.empty()) return "";
  return replica.role + "-replica-" + std::to_string(replica.index);
}

}  // namespace caip::run
