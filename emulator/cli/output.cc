#include "emulator/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/errors.h"
#include "base/files.h"
#include "emulator/app/version.h"
#include "emulator/cli/arguments/help_text.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/completion/state_names.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/reference/man_pages.h"
#include "emulator/cli/reference/markdown.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

// Whether a message is shown. As in gcloud, messages for people begin with their kind.
bool IsTextShown(const GcloudFlags& flags, std::string_view text) {
  if (text.starts_with("ERROR: (caip.")) return IsShown(flags, Message::kError);
  if (text.starts_with("WARNING: ")) return IsShown(flags, Message::kWarning);
  return flags.user_output_enabled;
}

// Whether a report goes into what has this name: a device, a pipe, or the target of a link.
bool WritesThrough(const std::string& file) {
  struct stat named = {};
  struct stat target = {};
  return ::lstat(file.c_str(), &named) == 0 && !S_ISREG(named.st_mode) &&
         ::stat(file.c_str(), &target) == 0;
}

Status WriteInto(const std::string& file, const std::string& text) {
  const Fd opened(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (opened.valid() && WriteAll(opened.get(), text)) return Ok{};
  return CannotWrite(file, errno);
}

// Why WriteReport would fail, as an errno; 0: it would not. WriteFile makes a file beside the one
// that it replaces.
int FindObstacle(const std::string& file) {
  struct stat facts = {};
  if (file.empty()) return ENOENT;
  if (::stat(file.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return EISDIR;
  if (WritesThrough(file)) return ::access(file.c_str(), W_OK) == 0 ? 0 : errno;
  const std::string trial = file + ".tmp-" + std::to_string(::getpid()) + "-0";
  const Fd made(::open(trial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.valid()) return errno;
  ::unlink(trial.c_str());
  return 0;
}

std::function<void(Output)> WriterTo(int descriptor) {
  return [descriptor](Output output) { WriteText(descriptor, output.text, output.controls); };
}

}  // namespace

Io StandardIo() {
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  return {WriterTo(STDOUT_FILENO), WriterTo(STDERR_FILENO), out_is_terminal, err_is_terminal};
}

int Fail(const Io& io, std::string_view command, std::string_view message, int exit_code) {
  io.err("ERROR: (caip." + std::string(command) + ") " + std::string(message) + "\n");
  return exit_code;
}

int ExitCodeFor(const Error& error) {
  return error.code == Code::kInvalidArgument ? kExitUsage : kExitFailure;
}

int Fail(const Io& io, std::string_view command, const Error& error) {
  return Fail(io, command, error.message, ExitCodeFor(error));
}

Status CheckReports(const std::vector<ReportFlag>& flags) {
  std::vector<std::string> printed;
  for (const ReportFlag& flag : flags) {
    if (!flag.value) continue;
    if (*flag.value == "-") {
      printed.push_back(std::string(flag.name) + "=-");
    } else if (const int obstacle = FindObstacle(*flag.value)) {
      return errors::Argument(flag.name, CannotWrite(*flag.value, obstacle));
    }
  }
  return printed.size() > 1 ? Status(errors::AtMostOneOf(printed)) : Ok{};
}

Status CheckFolder(std::string_view flag, const std::string& folder) {
  std::error_code error;
  Path place = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(place, error) && place.has_relative_path()) {
    place = place.parent_path();
  }
  if (::access((place / ".").c_str(), W_OK | X_OK) == 0) return Ok{};
  return errors::Argument(flag, CannotWrite(folder, errno));
}

Status WriteReport(const std::optional<std::string>& file, const std::string& text, const Io& io) {
  if (!file) return Ok{};
  if (*file != "-") return WritesThrough(*file) ? WriteInto(*file, text) : WriteFile(*file, text);
  io.out(text);
  return Ok{};
}

bool IsShown(const GcloudFlags& flags, Message message) {
  const std::string_view level = flags.verbosity;
  if (level == "none" || level == "critical") return false;
  return message == Message::kError || level != "error";
}

Io IoFor(const GcloudFlags& flags, const Io& io) {
  Io shown = io;
  shown.out = [flags, &io](Output output) {
    if (flags.user_output_enabled) io.out(output);
  };
  shown.err = [flags, &io](Output output) {
    if (IsTextShown(flags, output.text)) io.err(output);
  };
  return shown;
}

int RunHelp(const HelpCommand& command, const Surroundings& world) {
  const size_t width = report::TerminalSizeOf(STDOUT_FILENO).columns;
  const bool is_long = command.kind == HelpKind::kLong;
  world.io.out(is_long ? LongHelp(*command.page, width) : ShortHelp(*command.page, width));
  return kExitSuccess;
}

int RunReference(const ReferenceCommand& command, const Surroundings& world) {
  if (!command.man_directory) {
    world.io.out(MarkdownReference(*command.root));
    return kExitSuccess;
  }
  const Path directory = *command.man_directory;
  Status written = MakeDirectories(directory);
  for (const ManPage& page : ManPages(*command.root, app::kVersion)) {
    if (written.ok()) written = WriteFile(directory / page.file, page.text);
  }
  return written.ok() ? kExitSuccess : Fail(world.io, "help", written.error());
}

int RunComplete(const CompleteCommand& command, const Surroundings& world) {
  world.io.out(AnswerOf(Complete(*command.root, command.words, NamesInState)));
  return kExitSuccess;
}

// Completion scripts and usage errors.
int RunPrint(const PrintCommand& command, const Surroundings& world) {
  if (!command.out.empty()) world.io.out(command.out);
  if (!command.err.empty()) world.io.err(command.err);
  return command.exit_code;
}

}  // namespace caip::cli
