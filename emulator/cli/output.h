#pragma once
// Where a command writes, which of its messages are shown, and its exit codes.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/terminal_text.h"

namespace caip::cli {

struct GcloudFlags;  // commands/commands.h

/// A text for a stream, and the control sequences in it that a terminal may receive: none, unless
/// the text is made by Coloured or Drawing. Does not own the text.
struct Output {
  Output(std::string_view shown, Controls kept = Controls::kNone)  // NOLINT: implicit
      : text(shown), controls(kept) {}
  Output(const std::string& shown) : text(shown) {}   // NOLINT: implicit
  Output(const char* shown) : text(shown) {}          // NOLINT: implicit
  operator std::string_view() const { return text; }  // NOLINT: implicit

  std::string_view text;
  Controls controls = Controls::kNone;
};

/// A text with colours of its own, such as log lines.
inline Output Coloured(std::string_view text) { return {text, Controls::kColours}; }
/// A text that moves the cursor. All text in it that caip did not write went through TerminalText.
inline Output Drawing(std::string_view text) { return {text, Controls::kAll}; }

/// The two streams of a command. One thread writes at a time; each call is written at once. Tests
/// pass strings, main StandardIo().
struct Io {
  std::function<void(Output)> out;
  std::function<void(Output)> err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

/// The standard output and the standard error. Everything that a command writes to a terminal
/// passes through WriteText here. Files and pipes get the bytes unchanged.
Io StandardIo();

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

/// The exit code of a command that ended with this error: kExitUsage for a wrong value
/// (kInvalidArgument), else kExitFailure.
int ExitCodeFor(const Error& error);

/// Writes "ERROR: (caip.COMMAND) message" and returns ExitCodeFor(error).
int Fail(const Io& io, std::string_view command, const Error& error);

/// A flag that asks for a report, and the place of the report.
struct ReportFlag {
  std::string_view name;             // "--junit"
  std::optional<std::string> value;  // a file; "-": the standard output; none: there is no report
};

/// Fails if a report cannot be written, or if two of them go to the standard output. Commands call
/// it before they do anything. Changes no file.
Status CheckReports(const std::vector<ReportFlag>& flags);

/// The same for the folder of a flag, which may be missing: whether files can be made in it.
Status CheckFolder(std::string_view flag, const std::string& folder);

/// Writes a report to `file`; "-" prints it, and without a file nothing happens. A device, a pipe
/// or the target of a link gets the text; a file is replaced as a whole.
Status WriteReport(const std::optional<std::string>& file, const std::string& text, const Io& io);

/// The kinds of messages that --verbosity ranks, as gcloud does. Results are not messages.
enum class Message { kWarning, kError };

/// Whether --verbosity lets this kind of message through.
bool IsShown(const GcloudFlags& flags, Message message);

/// Returns `io` without the messages that --verbosity and --no-user-output-enabled hide. `io` must
/// outlive the result.
Io IoFor(const GcloudFlags& flags, const Io& io);

}  // namespace caip::cli
