#pragma once
// What a run of a session does to the launches of its replicas.

#include "emulator/scenario/launch_watch.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Leaves TF_CONFIG out, moves replicas to another host, tells them that they are a trial: as the
/// plan says, which outlives it.
scenario::Dresser DresserOf(const harness::RunPlan& plan);

}  // namespace caip::check
