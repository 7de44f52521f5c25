#include "host/launcher/leader.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/watch_filter.h"

namespace caip::host::launcher {
namespace {

/// Shared with the new process, which borrows our memory until it executes its program.
struct Birth {
  const Recipe& recipe;
  const Namespaces& home;
  std::vector<std::string> candidates;  // the files to try, in order
  int out;
  int err;
  const Watching& watching;
  pid_t parent;
  Step failed = Step::kNone;
  int error = 0;
};

/// The files that argv[0] may mean, by PATH of the replica's own environment (execvp's rules).
std::vector<std::string> Candidates(const Recipe& recipe) {
  const std::string name = recipe.argv.front();
  if (name.find('/') != std::string::npos || name.empty()) return {name};
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (const char* variable : recipe.environment) {
    if (variable && std::strncmp(variable, "PATH=", 5) == 0) path = variable + 5;
  }
  std::vector<std::string> candidates;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string directory = path.substr(begin, end - begin);
    candidates.push_back((directory.empty() ? "." : directory) + "/" + name);
    begin = end + 1;
  }
  return candidates;
}

/// When memory runs out, the kernel shall take the replica, not the emulator.
void VolunteerForOutOfMemory() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (::write(fd, "500", 3) < 0) errno = 0;  // a wish
  ::close(fd);
}

[[noreturn]] void Fail(Birth& birth, Step step, int error) {
  birth.failed = step;
  birth.error = error;
  ::_exit(127);
}

/// Our calls wait for caip from here on; nothing before the exec is one of them.
bool BeWatched(const Watching& watching) {
  const int listener = InstallWatch(watching.watch);
  if (listener < 0) return false;
  Report report;
  report.kind = Report::kWatched;
  report.replica = watching.replica;
  report.init = ::getppid();
  return SendWithDescriptors(watching.socket, &report, sizeof report, {listener}) >= 0;
}

/// Runs in the new process, on its own stack but in our memory: system calls only.
int BecomeLeader(void* argument) {
  Birth& birth = *static_cast<Birth*>(argument);
  ::setsid();
  const Recipe& recipe = birth.recipe;
  if (birth.home.any()) {
    const Step failed = MoveInto(birth.home, recipe.hosts_file, recipe.host_name);
    if (failed != Step::kNone) Fail(birth, failed, errno);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != birth.parent) ::_exit(127);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(birth.out, STDOUT_FILENO);
  ::dup2(birth.err, STDERR_FILENO);
  VolunteerForOutOfMemory();
  if (::chdir(recipe.directory) != 0) Fail(birth, Step::kDirectory, errno);
  const Watching& watching = birth.watching;
  if (watching.watch && !BeWatched(watching)) Fail(birth, Step::kWatch, errno);
  ::syscall(SYS_close_range, 3u, ~0u, 0u);  // all of ours are close-on-exec; this is the belt
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = ENOENT;
  for (const std::string& candidate : birth.candidates) {
    ::execve(candidate.c_str(), recipe.argv.data(), recipe.environment.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    error = errno;
    if (errno != EACCES) break;
  }
  Fail(birth, Step::kExec, error);
}

}  // namespace

LeaderStart StartLeader(const Recipe& recipe, const Namespaces& home, int out, int err,
                        const Watching& watching) {
  Birth birth{recipe, home, Candidates(recipe), out, err, watching, ::getpid()};
  alignas(16) static char stack[64u << 10];
  // Like vfork, as posix_spawn does it: nothing is copied, and we sleep until the exec.
  const pid_t pid =
      ::clone(BecomeLeader, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
  if (pid < 0) return {-1, Step::kFork, errno};
  if (birth.failed != Step::kNone) ::waitpid(pid, nullptr, 0);
  return {pid, birth.failed, birth.error};
}

}  // namespace caip::host::launcher
