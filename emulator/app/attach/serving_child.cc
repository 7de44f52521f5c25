#include "emulator/app/attach/serving_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "emulator/app/attach/interrupt.h"
#include "emulator/app/errors.h"

namespace caip::app {
namespace {

// Used by the signal handlers of both processes.
std::atomic<pid_t> child{0};
std::atomic<int> passed_on{0};
std::atomic<int> outcome{-1};   // the child's socket, to which it writes the exit code
std::atomic<int> dev_null{-1};  // /dev/null

// After more signals than this, the process ends without waiting for the child. GNU timeout sends
// two at once.
constexpr int kSignalsPassedOn = 3;
constexpr int kPartingMilliseconds = 2000;

void PassOn(int signal) {
  const int saved = errno;
  if (++passed_on > kSignalsPassedOn) ::_exit(128 + signal);
  ::kill(child, signal);
  errno = saved;
}

void SendOutcome(int exit_code) {
  // The waiting process may have ended. That must not raise SIGPIPE.
  [[maybe_unused]] const auto sent =
      ::send(outcome, &exit_code, sizeof exit_code, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Handles a signal outside of InterruptGuards. The signal ends the command, but not the emulator
// inside: the child runs to its end without output.
void EndSilently(int signal) {
  const int saved = errno;
  ::dup2(dev_null, STDOUT_FILENO);
  ::dup2(dev_null, STDERR_FILENO);
  SendOutcome(128 + signal);
  errno = saved;
}

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};

/// Blocks the forwarded signals while it exists.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : kPassedOn) sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  SignalBlock(const SignalBlock&) = delete;
  ~SignalBlock() { Free(); }
  void Free() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

bool IsIgnored(int signal) {
  struct sigaction present {};
  return ::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

// Waits for the child until the process that the user started can end. It ends with _exit:
// resources of the command, such as files to delete, belong to the child.
[[noreturn]] void WaitFor(pid_t pid, int reads, SignalBlock& block) {
  child = pid;
  for (const int signal : kPassedOn) {
    struct sigaction action {};
    action.sa_handler = PassOn;
    // SIGINT is forwarded even if it was ignored, as it is for a shell's `command &`. Then `kill
    // -INT` ends the command.
    if (signal != SIGHUP || !IsIgnored(signal)) ::sigaction(signal, &action, nullptr);
  }
  block.Free();
  int exit_code = 0;
  ssize_t count = 0;
  do {
    count = ::read(reads, &exit_code, sizeof exit_code);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof exit_code) ::_exit(exit_code);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<ServingChild>> ServingChild::Begin() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return errors::CannotMakeSockets(errno);
  }
  Fd reads(ends[0]);
  Fd writes(ends[1]);
  SignalBlock block;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return CannotStartProcess(errno);
  if (pid > 0) {
    writes.Close();
    WaitFor(pid, reads.get(), block);
  }
  ::setsid();
  dev_null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  outcome = writes.Release();
  InterruptGuard::SetOutside(EndSilently);
  // The child gets SIGHUP when the waiting process ends.
  ::prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (::getppid() != parent) ::raise(SIGHUP);
  return std::unique_ptr<ServingChild>(new ServingChild());
}

ServingChild::~ServingChild() {
  InterruptGuard::SetOutside(SIG_DFL);
  ::close(outcome.exchange(-1));
  ::close(dev_null.exchange(-1));
}

void ServingChild::Release(int exit_code, const Path& log) {
  ::prctl(PR_SET_PDEATHSIG, 0);
  const Fd log_file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ::dup2(dev_null, STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(log_file.valid() ? log_file.get() : dev_null.load(), stream);
  }
  // Signals that the waiting process still forwards are meant for the command.
  const SignalBlock block;
  SendOutcome(exit_code);
  struct pollfd gone {
    outcome, POLLIN, 0
  };
  ::poll(&gone, 1, kPartingMilliseconds);  // the other socket closes when the waiting process ends
  InterruptGuard::SetOutside(SIG_IGN);
}

StderrSilencer::StderrSilencer() : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (kept_.valid() && dev_null >= 0) ::dup2(dev_null, STDERR_FILENO);
}

StderrSilencer::~StderrSilencer() {
  if (kept_.valid()) ::dup2(kept_.get(), STDERR_FILENO);
}

}  // namespace caip::app
