#pragma once
// Shows a job's log while it runs.

#include <functional>
#include <string>

#include "client/connection.h"
#include "emulator/cli/io.h"

namespace caip::cli {

/// A log to be followed.
struct FollowRequest {
  std::string project;
  std::string job_id;
  std::string task_name;              // "" all
  bool allow_multiline_logs = false;  // false: one row for each line of a message
};

/// How following ended.
struct FollowOutcome {
  enum class End {
    kJobFinished,  // the job has an endTime and all its log was shown
    kInterrupted,  // Ctrl-C, SIGTERM, or the terminal was closed
    kStopped,      // the emulator was ended, by `caip stop` or a signal of its own
    kFailed,       // the emulator could not be asked; `failure` says why
  } end = End::kJobFinished;
  std::string failure;
  int signal = 0;  // the one that interrupted
};

/// Writes a job's log to io.err, as gcloud does, until the job is over.
using Follow = std::function<FollowOutcome(client::Connection&, const FollowRequest&, const Io&)>;

/// The Follow of the program: each line appears as soon as the emulator has it. Not a terminal:
/// gcloud's tab-separated columns. A terminal: coloured by role, with a line for
/// each change of state.
FollowOutcome FollowJob(client::Connection& connection, const FollowRequest& request, const Io& io);

}  // namespace caip::cli
