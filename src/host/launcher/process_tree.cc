#include "host/launcher/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

std::set<pid_t> SignalTree(int signal) {
  std::set<pid_t> reached;
  for (bool is_new = true; is_new;) {
    is_new = false;
    std::vector<pid_t> next = ChildrenOf(::getpid());
    while (!next.empty()) {
      const pid_t pid = next.back();
      next.pop_back();
      if (reached.insert(pid).second) {
        ::kill(pid, signal);
        is_new = true;
      }
      for (const pid_t child : ChildrenOf(pid)) next.push_back(child);
    }
  }
  return reached;
}

// Whether a thread of the process may still run its program.
bool IsRunning(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  DIR* directory = ::opendir(tasks.c_str());
  if (!directory) return false;
  bool runs = false;
  while (const dirent* entry = ::readdir(directory)) {
    std::string stat;
    if (entry->d_name[0] == '.' || !ReadAll((tasks + entry->d_name + "/stat").c_str(), stat)) {
      continue;
    }
    const size_t name_end = stat.rfind(')');  // "12 (name) S 1 ..."
    // In state D it waits inside a system call and stops before it returns.
    if (name_end != std::string::npos && std::strchr("RS", stat.c_str()[name_end + 2])) runs = true;
  }
  ::closedir(directory);
  return runs;
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

void FreezeTree() {
  const std::set<pid_t> reached = SignalTree(SIGSTOP);
  // waits, because a stop signal takes effect after some time
  for (int rounds = 0; rounds < kStopRounds; ++rounds) {
    if (std::none_of(reached.begin(), reached.end(), IsRunning)) return;
    ::poll(nullptr, 0, 1);
  }
}

void ThawTree() { SignalTree(SIGCONT); }

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
