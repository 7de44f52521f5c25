#pragma once
// Runs tools for caip itself: pip, the build of an sdist, nvidia-smi. process_launcher.h starts
// replicas. Boost.Process stays in child_process.cc, which waits with it.

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

using Variables = std::vector<std::pair<std::string, std::string>>;  // of an environment

enum class ToolStream { kOut, kErr };

/// A command to run. It inherits only the user, the limits and the umask.
struct Tool {
  std::vector<std::string> argv;  // argv[0] is a path or is looked up in PATH of `environment`
  Variables environment;          // complete
  std::string directory = {};     // "": that of this process
  /// Every process that the tool has started is killed when the tool ends, and when this process is
  /// killed, also daemons (caip-launcher does it). Otherwise, or if caip-launcher is missing, only
  /// the tool's process group, and the tool itself.
  bool is_guarded = false;
  /// Gets each line of output without its line break, on the thread that called RunTool. A last
  /// line may lack a line break. Lines longer than 1 MiB are split.
  std::function<void(ToolStream, std::string_view line)> on_line = {};
  /// After this time, or when `stop` is requested, the tool gets SIGTERM, and after `grace`
  /// SIGKILL.
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
  /// The exit code. If signal N ended the tool, 128 + N, as in a shell.
  int ShellStatus() const { return signal != 0 ? 128 + signal : exit_code; }
};

/// Runs a tool to its end, with /dev/null as its input, and then kills the processes that it has
/// left (Tool::is_guarded). Blocks; any thread. An Error means that the tool could not be started
/// (kNotFound, kPermissionDenied, ...), and names the reason.
Result<ToolResult> RunTool(const Tool& tool);

/// The output of a tool that prints little.
struct ToolOutput {
  ToolResult result;
  std::string out;
  std::string err;
};
/// Like RunTool, but returns the output, at most 64 MiB of each stream.
Result<ToolOutput> CaptureTool(Tool tool);

/// The environment of this process, for tools that need the variables of the user's shell.
Variables OwnEnvironment();

/// The value of a variable; nullopt when the environment lacks it.
std::optional<std::string> FindVariable(const Variables& variables, std::string_view name);

/// True for a regular file that this process may execute.
bool IsProgram(const std::string& file);

/// The first file `name` in the directories of `path` ("/usr/bin:/bin") that is a program; ""
/// if there is none. A name with a slash is a path itself.
std::string FindProgram(const std::string& name, std::string_view path);

}  // namespace caip::host
