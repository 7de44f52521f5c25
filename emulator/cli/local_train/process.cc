#include "emulator/cli/local_train/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

volatile sig_atomic_t forwarded_to = 0;  // the process to which signals are forwarded; 0: none

void Forward(int signal, siginfo_t* info, void*) {
  // The kernel sends a terminal's Ctrl-C to the whole process group. A second SIGINT would
  // interrupt the handling of the first.
  const bool has_it = signal == SIGINT && info->si_code == SI_KERNEL;
  if (forwarded_to > 0 && !has_it) ::kill(forwarded_to, signal);
}

/// While it exists, signals are forwarded to the process instead of ending this one.
class Forwarding {
 public:
  explicit Forwarding(int pid) {
    forwarded_to = pid;
    struct sigaction action {};
    action.sa_sigaction = Forward;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTERM, &action, &old_term_);
    ::sigaction(SIGINT, &action, &old_int_);
  }
  Forwarding(const Forwarding&) = delete;
  ~Forwarding() {
    forwarded_to = 0;
    ::sigaction(SIGTERM, &old_term_, nullptr);
    ::sigaction(SIGINT, &old_int_, nullptr);
  }

 private:
  struct sigaction old_term_ {};
  struct sigaction old_int_ {};
};

// Runs in the child, between fork and exec: only async-signal-safe calls are allowed.
[[noreturn]] void BecomeProcess(const LocalProcess& process, char* const* argv, int parent,
                                int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent ended before prctl
  if (!process.foreground) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
  }
  if (process.output >= 0) ::dup2(process.output, STDOUT_FILENO);
  if (::chdir(process.directory.c_str()) == 0) ::execvp(argv[0], argv);
  const int reason = errno;
  if (::write(report, &reason, sizeof reason) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

Result<Pipe> MakeLocalPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::string ReadLocalPipe(int reads) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(reads, buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

Result<int> StartLocalProcess(const LocalProcess& process) {
  std::vector<char*> argv;
  for (const std::string& word : process.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ASSIGN_OR_RETURN(Pipe report, MakeLocalPipe());
  ::setenv(process.variable.first.c_str(), process.variable.second.c_str(), 1);
  const int parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeProcess(process, argv.data(), parent, report.writes.get());
  if (pid < 0) return CannotStartProcess(errno);
  report.writes.Close();
  int reason = 0;
  ssize_t count = 0;
  do {
    count = ::read(report.reads.get(), &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof reason) return pid;
  ::waitpid(pid, nullptr, 0);
  return errors::CannotRunIn(process.directory, process.argv[0], reason);
}

int WaitForLocalProcess(int pid) {
  const Forwarding forwarding(pid);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void KillLocalProcess(int pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace caip::cli
