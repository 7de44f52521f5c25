#include "host/launcher/watch_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "host/launcher/protocol.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV  // Linux 5.19
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace caip::host::launcher {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "caip-launcher knows the system calls of x86-64 and arm64 only"
#endif

/// io_uring would write unseen. It is refused; programs that know it can do without.
constexpr int kOutputCalls[] = {SYS_write, SYS_writev, SYS_sendfile, SYS_splice,
                                SYS_io_uring_setup};
/// Beyond those. The older ones of each pair are not on arm64.
constexpr int kFileCalls[] = {
#ifdef SYS_open
    SYS_open,     SYS_creat,           SYS_rename,    SYS_unlink,   SYS_rmdir,
    SYS_dup2,
#endif
    SYS_openat,   SYS_renameat,        SYS_renameat2, SYS_unlinkat, SYS_getdents64,
    SYS_pwrite64, SYS_copy_file_range, SYS_close,     SYS_dup3,     SYS_exit_group,
};

/// The filter: our architecture and one of the numbers -> ask, else allow.
class Program {
 public:
  explicit Program(uint32_t watch) {
    Add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    Add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const int call : kOutputCalls) Ask(call);
    if (watch & kWatchFiles) {
      for (const int call : kFileCalls) Ask(call);
    }
    Add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  sock_fprog* get() { return &program_; }

 private:
  void Add(int code, uint32_t value, uint8_t then = 0, uint8_t otherwise = 0) {
    code_[program_.len++] = {static_cast<uint16_t>(code), then, otherwise, value};
  }
  void Ask(int call) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
    Add(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  }
  sock_filter code_[128];
  sock_fprog program_{0, code_};
};

}  // namespace

int InstallWatch(uint32_t watch) {
  Program program(watch);
  // Killable: a call that caip has heard of is not broken off, and done twice, by any signal.
  const unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  const auto install = [&] {
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program.get()));
  };
  const int listener = install();
  if (listener >= 0 || errno != EACCES) return listener;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // the price for who is not root
  return install();
}

}  // namespace caip::host::launcher
