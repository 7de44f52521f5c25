// caip-launcher: the small process through which caip starts replicas. Users do not run it: caip
// starts it with a socket as descriptor 3. README.md in this folder describes it.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

#include "host/launcher/protocol.h"
#include "host/launcher/replica_init.h"
#include "host/launcher/sealed_copy.h"
#include "host/launcher/tool_guard.h"
#include "host/launcher/zygote.h"

namespace {

bool IsSocket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

// Sets the state that replicas inherit: default signal actions, no descriptors, and a working
// directory that keeps no file system busy.
int PrepareProcess() {
  // Uses the system call, because the two signals that the C library reserves must be reset, too.
  // Its posix_spawn ignores them.
  const char default_action[64] = {};
  for (int number = 1; number < NSIG; ++number) {
    ::syscall(SYS_rt_sigaction, number, default_action, nullptr, NSIG / 8);
  }
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::fcntl(caip::host::launcher::kSocket, F_SETFD, FD_CLOEXEC);
  if (::fcntl(caip::host::launcher::kLock, F_SETFD, FD_CLOEXEC) != 0) {
    ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // takes the lock's number
  }
  ::syscall(SYS_close_range, caip::host::launcher::kLock + 1u, ~0u, 0u);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (::chdir("/") != 0) return -1;
  return caip::host::launcher::OpenSignals();
}

// The file of this program on the host. A sealed copy of it gets that as its first argument.
std::string OwnFile(const char* first_argument) {
  char file[PATH_MAX] = {};
  const bool is_copy = caip::host::launcher::RunsSealedCopy();
  if (is_copy || ::readlink("/proc/self/exe", file, sizeof file - 1) < 0) return first_argument;
  return file;
}

}  // namespace

int main(int count, char** arguments) {
  using caip::host::launcher::kSocket;
  if (count > 3 && std::string(arguments[1]) == caip::host::launcher::kToolWord) {
    caip::host::launcher::GuardTool(arguments + 2);
  }
  if (!IsSocket(kSocket)) {
    std::fputs("caip-launcher is started by caip, not by people.\n", stderr);
    return 2;
  }
  std::string file = OwnFile(arguments[0]);
  char* const words[] = {file.data(), nullptr};
  ::signal(SIGXFSZ, SIG_IGN);  // until PrepareProcess: a copy beyond `ulimit -f` is none
  caip::host::launcher::RunFromSealedCopy("caip-launcher", words, environ);
  const int signals = PrepareProcess();
  if (signals < 0) {
    std::perror("caip-launcher");
    return 1;
  }
  caip::host::launcher::Zygote(kSocket, signals, file.substr(0, file.rfind('/') + 1)).Run();
}
