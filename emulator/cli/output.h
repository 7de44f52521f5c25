#pragma once
// Where a command writes, which of its messages are shown, and its exit codes.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::cli {

struct GcloudFlags;  // commands/commands.h

/// The two streams of a command. One thread writes at a time; each call is written at once. Tests
/// pass strings, main the standard output and the standard error.
struct Io {
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

/// Exit codes of caip. Scripts rely on them. Commands that gcloud has use gcloud's codes.
enum ExitCode : int {
  kExitSuccess = 0,        // done; with --stream-logs: the job SUCCEEDED
  kExitFailure = 1,        // refused or failed; with --stream-logs: the job did not succeed
  kExitUsage = 2,          // the command line is wrong; nothing was done
  kExitCannot = 3,         // scenarios: this host cannot run it; the message says why
  kExitOurFault = 4,       // scenarios: caip itself failed
  kExitInterrupted = 130,  // Ctrl-C before the command had an outcome
};

/// Writes "ERROR: (caip.COMMAND) message" and returns the exit code.
int Fail(const Io& io, std::string_view command, std::string_view message,
         int exit_code = kExitFailure);

/// Writes a report to `file`; "-" prints it, and without a file nothing happens.
Status WriteReport(const std::optional<std::string>& file, const std::string& text, const Io& io);

/// The kinds of messages that --verbosity ranks, as gcloud does. Results are not messages.
enum class Message { kWarning, kError };

/// Whether --verbosity lets this kind of message through.
bool IsShown(const GcloudFlags& flags, Message message);

/// Returns `io` without the messages that --verbosity and --no-user-output-enabled hide. `io` must
/// outlive the result.
Io IoFor(const GcloudFlags& flags, const Io& io);

}  // namespace caip::cli
