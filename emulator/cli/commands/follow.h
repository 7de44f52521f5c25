#pragma once
// Shows a job's log while it runs.

#include "emulator/app/connection.h"
#include "emulator/cli/io.h"

namespace caip::cli {

/// Writes the log to io.err until the job is over; each line as soon as the emulator has it.
/// Not a terminal: gcloud's tab-separated columns. A terminal: coloured by role, with a line for
/// each change of state.
FollowOutcome FollowJob(Connection& connection, const FollowRequest& request, const Io& io);

}  // namespace caip::cli
