#include "host/launcher/removal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/launcher/leader.h"

namespace caip::host::launcher {
namespace {

constexpr int64_t kBetweenTries_ms = 100;

enum class TryEnd { kSucceeded, kFailed, kKilled };

int64_t TimeOfRemoval_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Waits for the end of a child.
void AwaitSignalOfChild(int64_t most_ms) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const timespec most{most_ms / 1000, most_ms % 1000 * 1000000};
  ::sigtimedwait(&child, nullptr, &most);
}

bool HasCaipEnded(int socket) {
  pollfd end{socket, 0, 0};
  return ::poll(&end, 1, 0) > 0;
}

// The command ends with this process.
pid_t StartTry(const Recipe& recipe, const std::vector<std::string>& files) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const std::string& file : files) {
    ::execve(file.c_str(), recipe.removal.data(), recipe.environment.data());
  }
  ::_exit(127);
}

TryEnd RunTry(const Recipe& recipe, const std::vector<std::string>& files, int64_t most_ms) {
  const pid_t pid = StartTry(recipe, files);
  if (pid < 0) return TryEnd::kFailed;
  const int64_t until_ms = TimeOfRemoval_ms() + most_ms;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    const int64_t left_ms = until_ms - TimeOfRemoval_ms();
    if (left_ms <= 0) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      return TryEnd::kFailed;
    }
    AwaitSignalOfChild(left_ms);
  }
  if (WIFSIGNALED(status)) return TryEnd::kKilled;
  return WEXITSTATUS(status) == 0 ? TryEnd::kSucceeded : TryEnd::kFailed;
}

}  // namespace

bool RunRemoval(const Recipe& recipe, int socket) {
  const auto files = ProgramFiles(recipe.removal.front(), recipe.environment);
  const int64_t until_ms = TimeOfRemoval_ms() + recipe.removal_total_ms;
  int64_t left_ms;
  while ((left_ms = until_ms - TimeOfRemoval_ms()) > 0) {
    const int64_t most_ms = std::min<int64_t>(left_ms, recipe.removal_try_ms);
    const TryEnd ended = RunTry(recipe, files, most_ms);
    if (ended == TryEnd::kSucceeded) return true;
    if (ended == TryEnd::kKilled || !HasCaipEnded(socket)) return false;
    AwaitSignalOfChild(kBetweenTries_ms);
  }
  return false;
}

}  // namespace caip::host::launcher
