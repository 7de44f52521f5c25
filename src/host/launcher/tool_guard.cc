#include "host/launcher/tool_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "host/launcher/process_tree.h"
#include "host/launcher/protocol.h"
#include "host/launcher/replica_init.h"

namespace caip::host::launcher {
namespace {

[[noreturn]] void Fail() {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(kToolFailure, &error, sizeof error);
  ::_exit(127);
}

[[noreturn]] void BecomeTool(char* const* words) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(words[0], words + 1);
  Fail();
}

// Ends this process with the native status of the tool.
[[noreturn]] void EndAs(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit no_core = {};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int number = WTERMSIG(status);
  ::signal(number, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + number);
}

/// The tool, a child of this process.
class Tool {
 public:
  Tool(pid_t pid, int signals) : pid_(pid), signals_(signals) {}

  // Returns the tool's status when no process of it is left.
  int ToItsEnd() {
    const Reaped note = [this](pid_t pid, int status, const rusage&) {
      if (pid == pid_) status_ = status;
    };
    while (!status_ && CaipLives()) {
      PassOnSignals();
      ReapEnded(note);
    }
    KillChildren([](pid_t) { return false; }, note);
    return status_.value_or(SIGKILL);
  }

 private:
  // Waits for a signal. False: caip has ended, or wants the end of the tool.
  bool CaipLives() const {
    pollfd heard[] = {{kToolLives, 0, 0}, {signals_, POLLIN, 0}};
    while (::poll(heard, 2, -1) < 0) {
      if (errno != EINTR) return false;
    }
    return heard[0].revents == 0;
  }

  void PassOnSignals() const {
    signalfd_siginfo signal = {};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo == SIGTERM) ::kill(-pid_, SIGTERM);
    }
  }

  const pid_t pid_;
  const int signals_;
  std::optional<int> status_;
};

}  // namespace

void GuardTool(char* const* words) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  for (const int own : {kToolLives, kToolFailure}) ::fcntl(own, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int signals = OpenSignals();
  if (signals < 0) Fail();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeTool(words);
  if (pid < 0) Fail();
  ::setpgid(pid, pid);  // as the tool does: the first one of both counts
  ::close(kToolFailure);
  EndAs(Tool(pid, signals).ToItsEnd());
}

}  // namespace caip::host::launcher
