// The part of emulator/cli/errors.h about `jobs update`.

#include "emulator/cli/errors.h"

namespace caip::cli::errors {

Error NoUpdatesRequested() {
  return {Code::kInvalidArgument,
          "No updates requested. Say what to change: --update-labels, --remove-labels or "
          "--clear-labels."};
}

std::string NoUpdateToPerform() { return "No update to perform.\n"; }

std::string Updated(std::string_view job) {
  return "Updated ml engine job [" + std::string(job) + "].\n";
}

}  // namespace caip::cli::errors
