#include "ml/job.h"

#include <cassert>

namespace caip::ml {
const RoleInput& TrainingInput::Of(Role role) const {
  switch (role) {
    case Role::kMaster:
      return master;
    case Role::kWorker:
      return worker;
    case Role::kParameterServer:
      return parameter_server;
    case Role::kEvaluator:
      return evaluator;
  }
  assert(false && "a role without an input");
  return master;
}

}  // namespace caip::ml
