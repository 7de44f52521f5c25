#pragma once
// The words of `caip check` -> the trainer that is to be checked.

#include "base/result.h"
#include "emulator/cli/commands.h"
#include "harness/check/course.h"

namespace caip::cli {

/// Builds its packages into `workshop` and merges the job as a submit does. Errors are in the
/// client's words, and are the user's.
Result<harness::CheckedTrainer> TrainerOf(const CheckCommand& command, const Path& workshop);

}  // namespace caip::cli
