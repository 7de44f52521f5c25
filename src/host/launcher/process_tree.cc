#include "host/launcher/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace caip::host::launcher {
namespace {

constexpr size_t kCommandBytesMax = 200;
// one millisecond each; a limit, because a process may never stop
constexpr int kStopRounds = 1000;

bool ReadAll(const char* path, std::string& text) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[4096];
  ssize_t count;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, count);
  ::close(fd);
  return count == 0;
}

// Reads the parent of every process, for kernels without CONFIG_PROC_CHILDREN.
std::vector<pid_t> ChildrenBySearch(pid_t parent) {
  std::vector<pid_t> children;
  DIR* directory = ::opendir("/proc");
  if (!directory) return children;
  while (const dirent* entry = ::readdir(directory)) {
    const pid_t pid = std::atoi(entry->d_name);
    std::string stat;
    if (pid <= 0 || !ReadAll(("/proc/" + std::to_string(pid) + "/stat").c_str(), stat)) continue;
    const size_t name_end = stat.rfind(')');  // "12 (name) S 1 ..."
    if (name_end == std::string::npos || name_end + 4 > stat.size()) continue;
    if (std::atoi(stat.c_str() + name_end + 4) == parent) children.push_back(pid);
  }
  ::closedir(directory);
  return children;
}

// The children that one thread has created.
bool ChildrenOfTask(const std::string& task, std::vector<pid_t>& children) {
  std::string text;
  if (!ReadAll((task + "/children").c_str(), text)) return false;
  for (const char* next = text.c_str(); *next != '\0';) {
    char* end = nullptr;
    const long pid = std::strtol(next, &end, 10);
    if (end == next) break;
    children.push_back(static_cast<pid_t>(pid));
    for (next = end; *next == ' ';) ++next;
  }
  return true;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task/";
  std::vector<pid_t> children;
  DIR* directory = ::opendir(tasks.c_str());
  if (!directory) return children;  // the process has ended
  bool by_search = false;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    const std::string task = tasks + entry->d_name;
    by_search |= !ChildrenOfTask(task, children) && ::access(task.c_str(), F_OK) == 0;
  }
  ::closedir(directory);
  return by_search ? ChildrenBySearch(parent) : children;
}

// Calls `visit` with each descendant, before its children are read.
void WalkTree(const std::function<void(pid_t)>& visit) {
  std::set<pid_t> reached;
  std::vector<pid_t> next = ChildrenOf(::getpid());
  while (!next.empty()) {
    const pid_t pid = next.back();
    next.pop_back();
    if (!reached.insert(pid).second) continue;
    visit(pid);
    for (const pid_t child : ChildrenOf(pid)) next.push_back(child);
  }
}

// The states of the process's threads, a letter each; empty if it is gone.
std::string StatesOf(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  std::string states;
  DIR* directory = ::opendir(tasks.c_str());
  if (!directory) return states;
  while (const dirent* entry = ::readdir(directory)) {
    std::string stat;
    if (entry->d_name[0] == '.' || !ReadAll((tasks + entry->d_name + "/stat").c_str(), stat)) {
      continue;
    }
    const size_t name_end = stat.rfind(')');  // "12 (name) S 1 ..."
    if (name_end != std::string::npos && name_end + 2 < stat.size()) states += stat[name_end + 2];
  }
  ::closedir(directory);
  return states;
}

bool HasStopped(const std::string& states) {
  return states.find('T') != std::string::npos && states.find_first_of("RS") == std::string::npos;
}

// Whether a SIGSTOP waits for the process. It waits as long as a call cannot be interrupted, or if
// the process has stopped already: then it waits until the process is continued.
bool HasWaitingStop(pid_t pid) {
  constexpr uint64_t kStop = uint64_t{1} << (SIGSTOP - 1);
  constexpr char kSignals[] = "\nShdPnd:";  // of all its threads, in hexadecimal digits (proc(5))
  std::string status;
  ReadAll(("/proc/" + std::to_string(pid) + "/status").c_str(), status);
  const size_t line = status.find(kSignals);
  if (line == std::string::npos) return false;
  return std::strtoull(status.c_str() + line + std::strlen(kSignals), nullptr, 16) & kStop;
}

// Sends SIGSTOP to the descendants that have not stopped, and adds them to `stopped`. False if
// there was none. A thread in state D waits inside a system call and stops before it returns. A
// process for which a SIGSTOP waits gets no second one: it may be that of another process. That is
// read first, because the kernel takes the signal and stops the process in one step.
bool StopRunning(StoppedProcesses& stopped) {
  bool found = false;
  WalkTree([&](pid_t pid) {
    const bool will_stop = HasWaitingStop(pid);
    const std::string states = StatesOf(pid);
    const bool runs = states.find_first_of("RS") != std::string::npos;
    const bool is_dead = states.find_first_not_of("ZX") == std::string::npos;
    if (HasStopped(states) || is_dead) return;
    found |= runs;
    if (will_stop || (!runs && stopped.count(pid) > 0)) return;
    ::kill(pid, SIGSTOP);  // again if it runs: another process may have continued it
    ++stopped[pid];
    found = true;
  });
  return found;
}

// Whether another stop signal than that of FreezeTree stops the process: of two, one waits. After
// several of FreezeTree, one of these may wait.
bool IsStoppedByAnother(pid_t pid, int signals) {
  return signals == 1 && HasStopped(StatesOf(pid)) && HasWaitingStop(pid);
}

}  // namespace

// Reads one file, because an init has only one thread. Every end of a replica calls this.
std::vector<pid_t> Children() {
  const pid_t self = ::getpid();
  std::vector<pid_t> children;
  const std::string task = "/proc/self/task/" + std::to_string(self);
  return ChildrenOfTask(task, children) ? children : ChildrenBySearch(self);
}

std::string CommandOf(pid_t pid) {
  std::string command;
  ReadAll(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), command);
  command.resize(std::min(command.size(), kCommandBytesMax));
  for (char& c : command) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  while (command.ends_with(' ')) command.pop_back();
  return command;
}

// Two walks must find nothing: during one, a process may get another parent, or be continued by one
// that stops only then.
void FreezeTree(StoppedProcesses& stopped) {
  int calm_walks = 0;
  for (int rounds = 0; rounds < kStopRounds && calm_walks < 2; ++rounds) {
    if (!StopRunning(stopped)) {
      ++calm_walks;
      continue;
    }
    calm_walks = 0;
    ::poll(nullptr, 0, 1);  // a stop signal takes effect after some time
  }
}

void ThawTree(StoppedProcesses& stopped) {
  std::set<pid_t> continued;  // the ID of another may belong to a stranger now
  WalkTree([&](pid_t pid) {
    const auto found = stopped.find(pid);
    if (found == stopped.end() || IsStoppedByAnother(pid, found->second)) return;
    continued.insert(pid);
  });
  for (const pid_t pid : continued) ::kill(pid, SIGCONT);
  stopped.clear();
}

void KillChildren(const std::function<bool(pid_t)>& spare, const Reaped& reaped) {
  for (;;) {
    std::vector<pid_t> killed;
    for (const pid_t child : Children()) {
      // EPERM: the process belongs to another user now (a set-user-ID program) and cannot be
      // killed.
      if (!spare(child) && ::kill(child, SIGKILL) == 0) killed.push_back(child);
    }
    if (killed.empty()) return;
    for (const pid_t child : killed) {
      int status = 0;
      rusage usage{};
      pid_t waited;
      while ((waited = ::wait4(child, &status, 0, &usage)) < 0 && errno == EINTR) continue;
      if (waited == child) reaped(child, status, usage);
    }
  }
}

void ReapEnded(const Reaped& reaped) {
  int status = 0;
  rusage usage{};
  pid_t child;
  while ((child = ::wait4(-1, &status, WNOHANG, &usage)) > 0) reaped(child, status, usage);
}

}  // namespace caip::host::launcher
