#pragma once
// Shows a job's log while the job runs: how to follow it, and log entries as rows of text.

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "client/connection.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/own_paths.h"

namespace caip::cli {

/// A log to follow.
struct FollowRequest {
  std::string project;
  std::string job_id;
  std::string task_name;              // "": all tasks
  bool allow_multiline_logs = false;  // false: one row for each line of a message
  OwnPaths own_paths = {};
};

/// The place in a log up to which it was shown.
struct FollowPlace {
  std::string project;
  std::string job_id;
  std::string task_name;   // "": all tasks
  std::string last_entry;  // insertId; "" from the start
  std::string state;       // of the job, as the last answer had it
};

/// The path of the emulator's method that waits for a quarter of a second until there is news after
/// that place.
std::string FollowTarget(const FollowPlace& place);

/// How following ended.
struct FollowOutcome {
  enum class End {
    kJobFinished,  // the job has an endTime and all its log was shown
    kInterrupted,  // Ctrl-C, SIGTERM, or the terminal was closed
    kStopped,      // the emulator was ended by `caip stop` or a signal
    kFailed,       // the emulator did not answer; `failure` says why
  } end = End::kJobFinished;
  std::string failure;
  int signal = 0;  // the signal that interrupted
};

/// Writes a job's log to io.err, as gcloud does, until the job has ended.
using Follow = std::function<FollowOutcome(client::Connection&, const FollowRequest&, const Io&)>;

/// The Follow of the program: each line appears as soon as the emulator has it. A terminal gets
/// lines coloured by role, with a line for each change of state. Other outputs get gcloud's
/// tab-separated columns.
FollowOutcome FollowJob(client::Connection& connection, const FollowRequest& request, const Io& io);

/// Logs of Vertex AI have no column of trials.
enum class TrialColumn { kShown, kNone };

/// Formats an entry of the emulator's follow answer, which has severity, timestamp, task, trial and
/// message: "SEVERITY\tTIME\tTASK\tTRIAL\tMESSAGE\n", with one row for each line of the message
/// unless `allow_multiline`. TIME is local time with its offset, as gcloud prints it.
std::string PlainRows(const Json& entry, bool allow_multiline,
                      TrialColumn trials = TrialColumn::kShown);

/// Formats an entry with the role's colour: "   1.24s  worker-0    | message\n". Errors and
/// warnings stand out. `elapsed`: the time since the job was created.
std::string ColourRows(const Json& entry, Duration elapsed);

/// Formats a change of state in bold: "   1.24s  RUNNING\n".
std::string StateRow(std::string_view state, Duration elapsed);

}  // namespace caip::cli
