#include "host/launcher/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace caip::host::launcher {
namespace {

bool ReadAll(const char* path, std::string& text) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[4096];
  ssize_t count;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, count);
  ::close(fd);
  return count == 0;
}

/// For kernels without CONFIG_PROC_CHILDREN: look at the parent of every process.
std::vector<pid_t> ChildrenBySearch() {
  std::vector<pid_t> children;
  DIR* directory = ::opendir("/proc");
  if (!directory) return children;
  while (const dirent* entry = ::readdir(directory)) {
    const pid_t pid = std::atoi(entry->d_name);
    std::string stat;
    if (pid <= 0 || !ReadAll(("/proc/" + std::to_string(pid) + "/stat").c_str(), stat)) continue;
    const size_t name_end = stat.rfind(')');  // "12 (name) S 1 ..."
    if (name_end == std::string::npos || name_end + 4 > stat.size()) continue;
    if (std::atoi(stat.c_str() + name_end + 4) == ::getpid()) children.push_back(pid);
  }
  ::closedir(directory);
  return children;
}

}  // namespace

std::vector<pid_t> Children() {
  const std::string self = std::to_string(::getpid());
  std::string text;
  if (!ReadAll(("/proc/self/task/" + self + "/children").c_str(), text)) return ChildrenBySearch();
  std::vector<pid_t> children;
  for (const char* next = text.c_str(); *next != '\0';) {
    char* end = nullptr;
    const long pid = std::strtol(next, &end, 10);
    if (end == next) break;
    children.push_back(static_cast<pid_t>(pid));
    for (next = end; *next == ' ';) ++next;
  }
  return children;
}

void KillChildren(const std::function<bool(pid_t)>& spare, const Reaped& reaped) {
  for (;;) {
    std::vector<pid_t> killed;
    for (const pid_t child : Children()) {
      // EPERM: it became somebody else's (a set-user-ID program); nothing can be done about it.
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
