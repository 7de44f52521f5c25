#pragma once
// The explorer as a run of a session, and what it leaves for the user.

#include "emulator/check/checking.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Explores the plan's job; fills in flaws. Where there are any, `options.findings` gets their
/// scenarios, with the job and the buckets that they need beside them. A job that cannot be
/// explored is told as a run that was skipped.
Status ExploreRestarts(const harness::RunPlan& plan, const CheckingOptions& options,
                       harness::CheckRun& run);

}  // namespace caip::check
