#include "report/errors.h"

namespace caip::report::errors {

Error NoTuningJob(const std::string& job) {
  return {Code::kFailedPrecondition,
          "The job " + job + " has no hyperparameters, so it has no trials."};
}

}  // namespace caip::report::errors
