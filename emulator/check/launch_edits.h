#pragma once
// Alters the launches of replicas as the plan of a run asks for.

#include "emulator/scenario/watch/launch_watch.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Removes TF_CONFIG, moves replicas to another host, or presents the run to them as a trial. The
/// plan must outlive the result.
scenario::LaunchEditor LaunchEditorOf(const harness::RunPlan& plan);

}  // namespace caip::check
