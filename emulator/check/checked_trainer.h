#pragma once
// The words of `caip check` as the trainer that is to be checked.

#include "base/files.h"
#include "base/result.h"
#include "emulator/check/trainer_request.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Builds the trainer's packages into `workshop` and merges the job as a submit does. Errors have
/// the client's texts, and are the user's.
Result<harness::CheckedTrainer> MakeCheckedTrainer(const TrainerRequest& request,
                                                   const Path& workshop);

}  // namespace caip::check
