#pragma once
// Tools that caip runs for itself: pip, the building of an sdist, nvidia-smi. Replicas are started
// by process_launcher.h instead. Boost.Process stays in child_process.cc.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace caip::host {

enum class ToolStream { kOut, kErr };

/// What to run and how. Nothing is inherited but the user, the limits and the umask.
struct Tool {
  std::vector<std::string> argv;  // argv[0] is a path or is looked up in PATH of `environment`
  std::vector<std::pair<std::string, std::string>> environment;  // whole
  std::string directory = {};                                    // "": ours
  /// Each line of output without its end, as it comes, on the thread that called RunTool. A last
  /// line without an end counts. Lines above 1 MiB are cut into several.
  std::function<void(ToolStream, std::string_view line)> on_line = {};
  /// After this long, or when `stop` is asked, the tool gets SIGTERM, after `grace` SIGKILL.
  std::optional<std::chrono::milliseconds> timeout = {};
  std::stop_token stop = {};
  std::chrono::milliseconds grace{2000};
};

/// How a tool ended, by its native status.
struct ToolResult {
  int exit_code = 0;  // meaningless when `signal` is set
  int signal = 0;     // the signal that ended it, else 0
  bool timed_out = false;
  bool stopped = false;  // by `stop`
  bool ok() const { return exit_code == 0 && signal == 0; }
  /// 128 + N where signal N ended it, as a shell would say.
  int ShellStatus() const { return signal != 0 ? 128 + signal : exit_code; }
};

/// Runs a tool to its end, with /dev/null as its input; whatever it left running in its process
/// group is killed then. Blocks; any thread. An Error is only: it could not be started (kNotFound,
/// kPermissionDenied, ...), with what and why.
Result<ToolResult> RunTool(const Tool& tool);

/// The output of a tool that prints little.
struct ToolOutput {
  ToolResult result;
  std::string out;
  std::string err;
};
/// Like RunTool, but keeps the output (64 MiB at most of each stream) instead of handing out lines.
Result<ToolOutput> CaptureTool(Tool tool);

/// The environment of this process, for tools that need what the user's shell would give them.
std::vector<std::pair<std::string, std::string>> OwnEnvironment();

/// The first file `name` in the directories of `path` ("/usr/bin:/bin") that this process may
/// execute;
/// "" if there is none. A name with a slash is a path itself.
std::string FindProgram(const std::string& name, std::string_view path);

/// The value of a variable; "" when the environment lacks it.
std::string FindVariable(const std::vector<std::pair<std::string, std::string>>& environment,
                         std::string_view name);

}  // namespace caip::host
