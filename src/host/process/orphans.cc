#include "host/process/orphans.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/errors.h"

namespace caip::host {
namespace {

/// True if a process has an environment although reading it gave nothing, because execve() is
/// replacing the program. Until the kernel has laid out the new environment, the start of the
/// environment equals its end, as in a process that has none. But the kernel sets the address of
/// the program's code only afterwards.
bool IsReplacingProgram(pid_t pid) {
  constexpr unsigned long kExitingOrKernelThread = 0x00200004;  // PF_EXITING, PF_KTHREAD
  // Positions in proc(5), counted from the state, which follows the name.
  constexpr size_t kState = 0, kFlags = 6, kCodeStart = 23;
  constexpr size_t kEnvironmentStart = 47, kEnvironmentEnd = 48;
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return false;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream text(stat->substr(name_end + 1));
  const std::vector<std::string> fields(std::istream_iterator<std::string>(text), {});
  if (fields.size() <= kEnvironmentEnd) return false;
  if (fields[kState] == "Z" || fields[kState] == "X") return false;
  if ((std::stoul(fields[kFlags]) & kExitingOrKernelThread) != 0) return false;
  return fields[kCodeStart] == "0" || fields[kEnvironmentStart] != fields[kEnvironmentEnd];
}

/// The environment with which a process was started. Empty for a process that has ended, and for a
/// process of another user, which is not readable.
std::string EnvironmentOf(pid_t pid) {
  // execve() takes less than a millisecond, but on a busy host the process may have to wait.
  const auto deadline = MonotonicNow() + std::chrono::seconds(1);
  for (;;) {
    const auto text = ReadFile("/proc/" + std::to_string(pid) + "/environ");
    if (!text.ok()) return "";
    if (!text->empty() || !IsReplacingProgram(pid) || MonotonicNow() > deadline) return *text;
    ::sched_yield();
  }
}

/// Whether the process was started with a marker of this state directory.
bool IsMarked(pid_t pid, const std::string& wanted) {
  const std::string text = EnvironmentOf(pid);
  return text.starts_with(wanted) || text.find('\0' + wanted) != std::string::npos;
}

std::string Wanted(const std::string& state_id) {
  return std::string(kReplicaVariable) + "=" + state_id + "/";
}

/// Waits for the end of a process, which need not be a child. False if `deadline` came first.
bool AwaitEnd(int pidfd, MonotonicTime deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - MonotonicNow());
    if (left.count() < 0) return false;
    pollfd waited{pidfd, POLLIN, 0};
    if (::poll(&waited, 1, static_cast<int>(left.count()) + 1) > 0) return true;
  }
}

}  // namespace

std::string StateId(const Path& state_directory) {
  std::error_code error;
  Path canonical = std::filesystem::weakly_canonical(state_directory, error);
  if (error) canonical = state_directory;
  if (!canonical.has_filename()) canonical = canonical.parent_path();  // "a/x/.." gives "a/"
  const uint64_t hash = Fnv1a(canonical.string());
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string ReplicaMarker(const std::string& state_id, const engine::ReplicaKey& key) {
  std::vector<std::string> parts = {state_id, key.run.project, key.run.job_id};
  if (!key.run.trial.empty()) parts.push_back("trial-" + key.run.trial);
  parts.push_back(run::Name(key.replica));
  parts.push_back(std::to_string(key.boot));
  return Join(parts, "/");
}

std::vector<pid_t> FindReplicas(const std::string& state_id) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return found;
  while (const dirent* entry = ::readdir(directory.get())) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0 && pid != ::getpid() && IsMarked(pid, Wanted(state_id))) found.push_back(pid);
  }
  return found;
}

Result<int> KillReplicas(const std::string& state_id, std::chrono::milliseconds patience) {
  const auto deadline = MonotonicNow() + patience;
  int killed = 0;
  for (;;) {
    const std::vector<pid_t> replicas = FindReplicas(state_id);
    if (replicas.empty()) return killed;
    if (MonotonicNow() > deadline) return errors::OrphanNotKilled(replicas.front());
    std::map<pid_t, Fd> dying;
    for (const pid_t pid : replicas) {
      Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      // Checks again, because the process ID may belong to another process by now.
      if (!pidfd.valid() || !IsMarked(pid, Wanted(state_id))) continue;
      ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
      dying.emplace(pid, std::move(pidfd));
      ++killed;
    }
    for (const auto& [pid, pidfd] : dying) {
      if (AwaitEnd(pidfd.get(), deadline)) continue;
      return errors::OrphanNotKilled(pid);
    }
  }
}

}  // namespace caip::host
