#include "host/process/orphans.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <system_error>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/errors.h"

namespace caip::host {
namespace {

/// True when the process was started with a marker of this state directory.
bool IsMarked(pid_t pid, const std::string& wanted) {
  // The dead have no environment; others' we may not read.
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/environ");
  if (!text.ok()) return false;
  return text->starts_with(wanted) || text->find('\0' + wanted) != std::string::npos;
}

std::string Wanted(const std::string& state_id) {
  return std::string(kReplicaVariable) + "=" + state_id + "/";
}

/// Waits for a process, which need not be our child, to end. False when `deadline` came first.
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
  parts.push_back(run::TaskName(key.replica));
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
      // Looked at again: the process id may have passed to another process since.
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
