#include "host/process/replica_end.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/images/image_errors.h"
#include "host/machine/machines.h"

namespace caip::host {
namespace {

// The interpreter of a script: "/usr/bin/pythn" for "#!/usr/bin/pythn -u"; "" for other files.
std::string InterpreterOf(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  const std::string_view rest = Trim(std::string_view(line).substr(2, line.find('\n') - 2));
  return std::string(rest.substr(0, rest.find_first_of(" \t")));
}

std::string Gibibytes(int64_t kib) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(kib) / (1 << 20));
  return text;
}

}  // namespace

engine::ReplicaExit ExitOf(const engine::ReplicaKey& key, const launcher::Report& report) {
  engine::ReplicaExit exit;
  exit.key = key;
  exit.is_removed = report.is_removed != 0;
  if (WIFSIGNALED(report.wait_status)) {
    exit.signal = WTERMSIG(report.wait_status);
  } else {
    exit.exit_code = WEXITSTATUS(report.wait_status);
  }
  return exit;
}

namespace {

// Whether the machine could not be made for what the image has at the target of a mount, or above
// it.
bool IsFaultOfImage(const launcher::Report& report) {
  constexpr int kOfPlaces[] = {ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG};
  return report.step == launcher::Step::kMount &&
         std::ranges::find(kOfPlaces, report.error) != std::end(kOfPlaces);
}

// A report has no room for a long target. Only that of the working directory can be so long.
Error MachineError(const LiveReplica& replica, const launcher::Report& report) {
  if (replica.image.empty()) return errors::NoMachine(WhyNoMachine(report));
  if (!IsFaultOfImage(report)) {
    return errors::ImageHasNoMachine(replica.image, WhyNoMachine(report));
  }
  const std::string place = report.left[0] == '\0' ? replica.directory : report.left;
  return errors::ImageHasNoPlaceFor(replica.image, place, report.error);
}

std::string StartErrorText(const LiveReplica& replica, const launcher::Report& report) {
  const std::string& program = replica.program;
  const std::string& directory = replica.directory;
  switch (report.step) {
    case launcher::Step::kRecipe:
      return "cannot start '" + program +
             "': caip-launcher did not understand the request; is it "
             "of the same version as caip?";
    case launcher::Step::kFork:
      return errors::CannotForkFor(program, report.error).message;
    case launcher::Step::kDirectory:
      return errors::CannotEnter(directory, report.error).message;
    case launcher::Step::kWatch:
      return errors::CannotWatchCalls(program, report.error).message;
    case launcher::Step::kNone:
    case launcher::Step::kExec:
      break;
    default:
      return MachineError(replica, report).message;
  }
  std::string text = CannotRun(program, report.error).message;
  const std::string file = program.starts_with('/') ? program : directory + "/" + program;
  if (program.find('/') == std::string::npos) {
    text += " (looked for in PATH)";
  } else if (report.error == ENOENT && !InterpreterOf(file).empty()) {
    text += " (it is a script for '" + InterpreterOf(file) + "', which does not exist)";
  } else if (report.error == ENOEXEC) {
    text += " (is it a script without a #! line, or built for another machine?)";
  }
  return text;
}

}  // namespace

Error StartError(const LiveReplica& replica, const launcher::Report& report) {
  constexpr int kPassing[] = {EMFILE, ENFILE, EAGAIN, ENOMEM};  // of a host that has too much to do
  const bool passes = std::ranges::find(kPassing, report.error) != std::end(kPassing);
  return {passes ? Code::kUnavailable : Code::kInternal, StartErrorText(replica, report)};
}

engine::ReplicaExit ExitWithoutStart(const engine::ReplicaKey& key, const Error& why) {
  engine::ReplicaExit exit;
  exit.key = key;
  exit.start_error = why.message;
  exit.start_may_pass = why.code == Code::kUnavailable;
  if (exit.start_may_pass) exit.signal = SIGKILL;  // as if it had been alive when the launcher died
  return exit;
}

std::vector<ReplicaOutput::Remark> RemarksWithoutStart(const Error& why, bool launcher_lives) {
  if (why.code != Code::kUnavailable) return {};
  std::string text =
      "This replica did not start: " + why.message + ". It counts as one whose machine was lost.";
  if (launcher_lives) {
    text +=
        " Raise the limits of open files and of processes with which the emulator starts (ulimit "
        "-Hn, ulimit -Hu), or run fewer replicas at the same time.";
  }
  return {{engine::Severity::kError, std::move(text)}};
}

std::vector<std::string> LeftRunning(const launcher::Report& report) {
  std::vector<std::string> lines = Split(report.left, '\n');
  std::erase(lines, "");
  return lines;
}

namespace {

// Programs that podman leaves for a moment when a container has ended: not the trainer's.
bool IsOfPodman(const std::string& left) {
  const std::vector<std::string> words = Split(left, ' ');
  const std::string program = words.size() > 1 ? Path(words[1]).filename().string() : "";
  return program == "conmon" || program == "podman";
}

int CountLeft(const launcher::Report& report) {
  const std::vector<std::string> left = LeftRunning(report);
  return report.left_running -
         static_cast<int>(std::count_if(left.begin(), left.end(), IsOfPodman));
}

}  // namespace

std::vector<ReplicaOutput::Remark> Remarks(const engine::ReplicaExit& exit,
                                           const launcher::Report& report) {
  std::vector<ReplicaOutput::Remark> remarks;
  if (exit.out_of_memory) {
    remarks.push_back({engine::Severity::kError,
                       "The kernel killed this replica because memory ran out; it held up to " +
                           Gibibytes(report.max_rss_kib) + "."});
  }
  if (const int left = CountLeft(report); left > 0) {
    const bool one = left == 1;
    remarks.push_back({engine::Severity::kWarning,
                       "The program ended, but " +
                           (one ? std::string("a process that it had started was")
                                : std::to_string(left) + " processes that it had started were") +
                           " still running; killed with the replica."});
  }
  return remarks;
}

ReplicaOutput::Remark RunsAsRoot(int error) {
  return {engine::Severity::kWarning,
          "This replica runs as root of its machine, not as the user that its image names, because "
          "the kernel refuses a user namespace with that user: " +
              std::string(std::strerror(error)) +
              ". The setting user.max_user_namespaces limits their number. An emulator that root "
              "of the host runs needs none."};
}

ReplicaOutput::Remark LostWayOut(const launcher::Report& report) {
  const int status = report.wait_status;
  const std::string how = WIFSIGNALED(status)
                              ? "was killed by signal " + std::to_string(WTERMSIG(status))
                              : "ended with status " + std::to_string(WEXITSTATUS(status));
  return {engine::Severity::kWarning,
          "The program through which the machines of this job reach other hosts (caip-nat) " + how +
              ". Their connections to other hosts are lost. " +
              (report.is_final != 0 ? "It is not started again: the machines reach no other hosts."
                                    : "It is started again with the next packet.")};
}

ReplicaOutput::Remark DiskWasFull() {
  return {engine::Severity::kError,
          "The boot disk of this replica was full: writes to it failed with ENOSPC. A job sets the "
          "size of its disks by diskConfig.bootDiskSizeGb. --disk-limits of the emulator and the "
          "free space of this host may make them smaller."};
}

namespace {

// A kill at most this long before a replica's start may count as a kill during its life.
constexpr auto kOomCountAge = std::chrono::milliseconds(20);

int64_t OomKillsOfHost() {
  const auto text = ReadFile("/proc/vmstat");
  if (!text.ok()) return 0;
  const size_t line = text->find("\noom_kill ");
  return line == std::string::npos ? 0 : std::atoll(text->c_str() + line + 10);
}

}  // namespace

int64_t OomCount::Now() const { return ask_ ? ask_() : OomKillsOfHost(); }

int64_t OomCount::Recent() {
  if (ask_) return ask_();
  const auto now = MonotonicNow();
  if (now - read_ > kOomCountAge) {
    count_ = OomKillsOfHost();
    read_ = now;
  }
  return count_;
}

}  // namespace caip::host
