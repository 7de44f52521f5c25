#include "host/launcher/leader.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/launcher/container_rights.h"
#include "host/launcher/descriptor_message.h"
#include "host/launcher/protocol.h"
#include "host/launcher/user_namespace.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV  // Linux 5.19
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace caip::host::launcher {
namespace {

// The seccomp filter that makes the calls of a watched replica wait for caip's answer. Everything
// that the replica starts inherits the filter.

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "caip-launcher knows the system calls of x86-64 and arm64 only"
#endif

// io_uring would write without a watched call. The filter's owner refuses it, and programs that use
// it work without it.
constexpr int kOutputCalls[] = {SYS_write, SYS_writev, SYS_sendfile, SYS_splice,
                                SYS_io_uring_setup};
constexpr int kFchmodat2 = 452;  // Linux 6.6, on all machines; older headers lack its name
// Further watched calls for files. arm64 lacks the older call of each pair.
constexpr int kFileCalls[] = {
#ifdef SYS_open
    SYS_open,       SYS_creat,      SYS_rename,          SYS_unlink,
    SYS_rmdir,      SYS_dup2,       SYS_mkdir,           SYS_link,
    SYS_symlink,    SYS_chmod,      SYS_utime,           SYS_utimes,
    SYS_futimesat,
#endif
    SYS_openat,     SYS_renameat,   SYS_renameat2,       SYS_unlinkat,
    SYS_getdents64, SYS_pwrite64,   SYS_copy_file_range, SYS_close,
    SYS_dup3,       SYS_exit_group, SYS_mkdirat,         SYS_linkat,
    SYS_symlinkat,  SYS_truncate,   SYS_ftruncate,       SYS_pwritev,
    SYS_pwritev2,   SYS_fallocate,  SYS_openat2,         SYS_fsync,
    SYS_fdatasync,  SYS_sync,       SYS_syncfs,          SYS_msync,
    SYS_execve,     SYS_execveat,   SYS_fchmod,          SYS_fchmodat,
    SYS_utimensat,  kFchmodat2,     SYS_setfsuid,        SYS_setfsgid,
};

// The filter: notifies caip of the listed calls of this architecture, and allows all others.
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
      AskAboutSharedMemory();
      AskAboutRanges();
      AskAboutClones();
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
  // Only maps through which a file can be written, now or after an mprotect: programs map much
  // memory of their own.
  void AskAboutSharedMemory() {
    Add(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5);
    Add(BPF_LD | BPF_W | BPF_ABS, LowerHalfOf(3));
    Add(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 2, 0);
    Add(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1);
    Add(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    Add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  }
  // Only ranges without flags: CLOSE_RANGE_CLOEXEC closes nothing, and the leader uses the other.
  void AskAboutRanges() {
    Add(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 4);
    Add(BPF_LD | BPF_W | BPF_ABS, LowerHalfOf(2));
    Add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    Add(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    Add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  }
  // Copies of blocks in the file system.
  void AskAboutClones() {
    Add(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4);
    Add(BPF_LD | BPF_W | BPF_ABS, LowerHalfOf(1));
    Add(BPF_JMP | BPF_JEQ | BPF_K, FICLONE, 1, 0);
    Add(BPF_JMP | BPF_JEQ | BPF_K, FICLONERANGE, 0, 1);
    Add(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  }
  // Both machines are little-endian.
  static constexpr uint32_t LowerHalfOf(uint32_t argument) {
    return offsetof(seccomp_data, args) + argument * sizeof(uint64_t);
  }
  sock_filter code_[160];
  sock_fprog program_{0, code_};
};

// Installs the filter in the calling process and returns the seccomp listener; -1 with errno.
// protocol.h defines `watch`. Makes only system calls, because the memory may belong to the parent
// process.
int InstallWatch(uint32_t watch) {
  Program program(watch);
  // WAIT_KILLABLE: no signal interrupts a call that caip has received, which would repeat it.
  const unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  const auto install = [&] {
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program.get()));
  };
  const int listener = install();
  if (listener >= 0 || errno != EACCES) return listener;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // required for users other than root
  return install();
}

}  // namespace

namespace {

// Data for the new process, which uses this process's memory until it executes its program.
struct LeaderContext {
  const Recipe& recipe;
  const LeaderPlace& place;
  std::vector<std::string> candidates;  // the files to try, in order
  const Watching& watching;
  pid_t parent;
  bool maps_user;  // the user of the recipe in a user namespace, else without one
  Step failed = Step::kNone;
  int error = 0;
  bool is_traced = false;  // it stops before the first instruction of its program
};

// Makes the kernel kill the replica, not the emulator, when memory runs out.
void RaiseOutOfMemoryScore() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (::write(fd, "500", 3) < 0) errno = 0;  // a failure is ignored
  ::close(fd);
}

// The system call, because the C library's function tells all threads, and the caller is not one.
bool TakeGroups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// A program that opens /dev/stdout opens the pipe again, so the pipe must belong to the user.
bool BecomeUser(const Recipe& recipe) {
  constexpr uint32_t kKept = ~0u;  // to the kernel: the ID of this process, which is root
  const gid_t group = recipe.group;
  if (recipe.user == kKept || group == kKept) {
    errno = EINVAL;
    return false;
  }
  if (recipe.user == 0 && group == 0) {
    if (!recipe.groups.empty()) TakeGroups(recipe.groups);  // a user namespace may refuse it
    return true;
  }
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::fchown(output, recipe.user, recipe.group) != 0) return false;
  }
  return TakeGroups(recipe.groups) && ::syscall(SYS_setresgid, group, group, group) == 0 &&
         ::syscall(SYS_setresuid, recipe.user, recipe.user, recipe.user) == 0 &&
         ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;  // a change of the user forgets it
}

// Returns the exit code of the new process, which ends when its function returns. Before a call
// that does not return, a sanitizer would warn about the stack, which is not that of a thread.
// Where caip watches the output, that warning would never end: it waits for caip, and caip for the
// parent, which reports the failure after this process's end.
int Fail(LeaderContext& context, Step step, int error) {
  context.failed = step;
  context.error = error;
  return 127;
}

// Gives this process the user of the recipe in a user namespace. It was root of the machine, to
// which all files of the boot disk belong, so they belong to that user. Comes before the watch,
// which would make these calls wait for caip.
bool MapUser(const LeaderContext& context) {
  if (!context.maps_user) return true;
  const Outcome moved = MoveToUserNamespace(context.recipe.user, context.recipe.group);
  errno = moved.error;
  return moved.ok() && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

// Makes later calls of this process wait for caip. The first one that waits is its exec.
bool BeWatched(const Watching& watching) {
  const int listener = InstallWatch(watching.watch);
  if (listener < 0) return false;
  Report report;
  report.kind = Report::kWatched;
  report.replica = watching.replica;
  report.init = watching.init;
  return SendWithDescriptors(watching.socket, &report, sizeof report, {listener}) >= 0;
}

// Runs in the new process, with its own stack but in the parent's memory. Makes only system calls.
int BecomeLeader(void* argument) {
  LeaderContext& context = *static_cast<LeaderContext*>(argument);
  ::setsid();
  const Recipe& recipe = context.recipe;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != context.parent) return 127;
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(context.place.out, STDOUT_FILENO);
  ::dup2(context.place.err, STDERR_FILENO);
  RaiseOutOfMemoryScore();
  if (::chdir(recipe.directory) != 0) return Fail(context, Step::kDirectory, errno);
  if (!MapUser(context)) return Fail(context, Step::kUserMap, errno);
  const Watching& watching = context.watching;
  if (watching.watch && !BeWatched(watching)) return Fail(context, Step::kWatch, errno);
  if (context.place.in_machine) {
    // Comes before the change of the user: the kernel keeps the rights of this process as those of
    // its tracer, and without them an exec would ignore a set-user-ID bit.
    context.is_traced = ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0;
    DropCapabilities();
    if (!recipe.maps_user && !BecomeUser(recipe)) return Fail(context, Step::kUser, errno);
  }
  // All descriptors close on exec anyway. But an exec that waits for caip fails when caip ends only
  // if this process does not hold the listener. The flag makes the filter pass the call, and has no
  // other effect here.
  ::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = ENOENT;
  for (const std::string& candidate : context.candidates) {
    ::execve(candidate.c_str(), recipe.argv.data(), recipe.environment.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    error = errno;
    if (errno != EACCES) break;
  }
  return Fail(context, Step::kExec, error);
}

}  // namespace

std::vector<std::string> ProgramFiles(const std::string& name,
                                      const std::vector<char*>& environment) {
  if (name.find('/') != std::string::npos || name.empty()) return {name};
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (const char* variable : environment) {
    if (variable && std::strncmp(variable, "PATH=", 5) == 0) path = variable + 5;
  }
  std::vector<std::string> files;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string directory = path.substr(begin, end - begin);
    files.push_back((directory.empty() ? "." : directory) + "/" + name);
    begin = end + 1;
  }
  return files;
}

namespace {

// CAP_SYS_PTRACE lets root of a machine write into the memory of its init. So the init keeps no
// capability that its leader lacks, from before the leader's first instruction.
void GiveUpRights(LeaderContext& context, pid_t leader) {
  if (DropOwnCapabilities()) return;
  context.failed = Step::kUser;
  context.error = errno;
  ::kill(leader, SIGKILL);
  int status = 0;
  while (::waitpid(leader, &status, 0) == leader && WIFSTOPPED(status)) continue;
}

LeaderStart StartLeaderOnce(const Recipe& recipe, const LeaderPlace& place,
                            const Watching& watching, bool maps_user) {
  std::vector<std::string> candidates = ProgramFiles(recipe.argv.front(), recipe.environment);
  LeaderContext context{recipe, place, std::move(candidates), watching, ::getpid(), maps_user};
  alignas(16) static char stack[64u << 10];
  // Like vfork in posix_spawn: copies nothing, and this thread sleeps until the exec.
  const pid_t pid =
      ::clone(BecomeLeader, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &context);
  if (pid < 0) return {-1, Step::kFork, errno};
  if (context.failed != Step::kNone) ::waitpid(pid, nullptr, 0);
  if (context.failed == Step::kNone && place.in_machine) GiveUpRights(context, pid);
  return {pid, context.failed, context.error, 0, context.is_traced};
}

}  // namespace

LeaderStart StartLeader(const Recipe& recipe, const LeaderPlace& place, const Watching& watching) {
  const LeaderStart start = StartLeaderOnce(recipe, place, watching, recipe.maps_user);
  if (start.failed != Step::kUserMap) return start;
  LeaderStart as_root = StartLeaderOnce(recipe, place, watching, false);
  as_root.user_error = start.error;
  return as_root;
}

// A leader that has died is left to be reaped.
void ReleaseLeader(const LeaderStart& leader) {
  siginfo_t stop{};
  const auto id = static_cast<id_t>(leader.pid);
  if (!leader.is_held || ::waitid(P_PID, id, &stop, WEXITED | WSTOPPED | WNOWAIT) != 0) return;
  if (stop.si_code != CLD_TRAPPED) return;
  const long signal = stop.si_status == SIGTRAP ? 0 : stop.si_status;  // that of the exec, or else
  ::ptrace(PTRACE_DETACH, leader.pid, nullptr, reinterpret_cast<void*>(signal));
}

}  // namespace caip::host::launcher
