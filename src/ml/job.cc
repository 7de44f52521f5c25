#include "ml/job.h"

#include <cassert>

namespace caip::ml {
const RoleInput& TrainingInput::Of(run::Role role) const {
  switch (role) {
    case run::Role::kMaster:
      return master;
    case run::Role::kWorker:
      return worker;
    case run::Role::kParameterServer:
      return parameter_server;
    case run::Role::kEvaluator:
      return evaluator;
  }
  assert(false && "a role without an input");
  return master;
}

}  // namespace caip::ml
