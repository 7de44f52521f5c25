#include "host/process/replica_entry.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/text.h"
#include "host/launcher/container_rights.h"
#include "host/launcher/descriptor_message.h"
#include "host/launcher/open_descriptors.h"
#include "host/machine/machine_errors.h"
#include "host/machine/other_users.h"
#include "host/process/entered_terminal.h"
#include "host/process/entering_process.h"
#include "host/process/orphans.h"
#include "host/process/process_status.h"

namespace caip::host {
namespace {

std::string ProcOf(pid_t process) { return "/proc/" + std::to_string(process) + "/"; }

// The main process of the replica as this process sees it; 0: it has ended.
pid_t FindLeader(const LivingReplica& replica) {
  const auto name = ReadFile(ProcOf(replica.init) + "comm");
  if (!name.ok() || Trim(*name) != "caip-replica") return 0;
  const std::string init = std::to_string(replica.init);
  const auto children = ReadFile("/proc/" + init + "/task/" + init + "/children");
  if (!children.ok()) return 0;
  for (const std::string& word : Split(*children, ' ')) {
    const auto child = static_cast<pid_t>(std::atoi(word.c_str()));
    if (child > 0 && InnerIdOf(child) == replica.leader) return child;
  }
  return 0;
}

using Texts = std::vector<std::string>;

/// What a program in the replica takes over from the main process.
struct Heritage {
  Texts environment;
  uint32_t user = 0;  // of an image, if this user may become another one
  uint32_t group = 0;
  std::vector<gid_t> groups = {};  // all groups
  /// The user namespace in which the main process is the user of its image; not valid: it is a user
  /// of the machine (launcher/leader.cc).
  Fd user_namespace = Fd();
};

// 0 if there is no such process, or if this process may not look at it.
ino_t UserNamespaceOf(pid_t process) {
  struct stat status {};
  return ::stat((ProcOf(process) + "ns/user").c_str(), &status) == 0 ? status.st_ino : 0;
}

// True for replicas whose launcher has made a user namespace, or was started in one.
bool IsInOtherUserNamespace(pid_t process) {
  return UserNamespaceOf(process) != UserNamespaceOf(::getpid());
}

// The first user or group of the process's user namespace; 0 if this process may not look at it.
uint32_t FirstIdOf(pid_t process, const char* map) {
  const auto text = ReadFile(ProcOf(process) + map);
  return text.ok() ? static_cast<uint32_t>(std::strtoull(text->c_str(), nullptr, 10)) : 0;
}

// A main process that is root in a namespace of its own has made that itself. Programs in the
// replica stay outside, where they have more rights.
Fd OpenNamespaceOfUser(pid_t leader, pid_t init) {
  const bool is_root = FirstIdOf(leader, "uid_map") == 0;
  if (is_root || UserNamespaceOf(leader) == UserNamespaceOf(init)) return Fd();
  return Fd(::open((ProcOf(leader) + "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
}

// The environment with which the main process was started, and the kind of this terminal. An error
// unless it is that of the replica: another process may have its ID by now.
Result<Heritage> HeritageOf(const LivingReplica& replica) {
  const pid_t leader = FindLeader(replica);
  if (leader == 0) return errors::ReplicaNotHere(replica.task);
  const auto text = ReadFile(ProcOf(leader) + "environ");
  if (!text.ok() && text.error().code == Code::kPermissionDenied) {
    return errors::ReplicaOfAnotherUser(replica.task);
  }
  if (!text.ok()) return errors::ReplicaNotHere(replica.task);
  Texts environment = Split(*text, '\0');
  std::erase(environment, "");
  const std::string marker = std::string(kReplicaVariable) + "=" + replica.marker;
  if (std::find(environment.begin(), environment.end(), marker) == environment.end()) {
    return errors::ReplicaNotHere(replica.task);
  }
  std::erase_if(environment, [](const std::string& one) { return one.starts_with("TERM="); });
  if (const char* terminal = std::getenv("TERM")) {
    environment.push_back("TERM=" + std::string(terminal));
  }
  const bool has_own_users = replica.is_machine && IsInOtherUserNamespace(replica.init);
  if (has_own_users || !MayBecome(FirstIdOf(leader, "uid_map"), FirstIdOf(leader, "gid_map"))) {
    return Heritage{std::move(environment), 0, 0, {}, OpenNamespaceOfUser(leader, replica.init)};
  }
  return Heritage{std::move(environment), EffectiveUserOf(leader), EffectiveGroupOf(leader),
                  GroupsOf(leader)};
}

/// A program to start, prepared before the fork: afterwards only system calls are made.
class Start {
 public:
  Start(Texts argv, Heritage heritage, std::string directory)
      : argv_(std::move(argv)),
        environment_(std::move(heritage.environment)),
        user_(heritage.user),
        group_(heritage.group),
        groups_(std::move(heritage.groups)),
        user_namespace_(std::move(heritage.user_namespace)),
        directory_(std::move(directory)) {
    is_shell_ = argv_.empty();
    if (is_shell_) argv_ = {"bash"};
    AddCandidates(program());
    if (is_shell_) {
      AddCandidates("sh");
      candidates_.push_back("/bin/sh");
    }
    for (std::string& one : argv_) words_.push_back(one.data());
    for (std::string& one : environment_) variables_.push_back(one.data());
    words_.push_back(nullptr);
    variables_.push_back(nullptr);
  }

  /// Leaves this process the rights of the program, no more. To be called inside the machine. False
  /// with errno.
  bool LimitRights() const {
    if (!user_namespace_.valid()) return launcher::DropOwnCapabilities() && BecomeUser();
    if (::setns(user_namespace_.get(), CLONE_NEWUSER) != 0) return false;  // gives all capabilities
    launcher::DropCapabilities();
    return launcher::LimitOwnCapabilities(0);
  }
  /// False with errno.
  bool BecomeUser() const {
    const bool is_root = user_ == 0 && group_ == 0;
    if (is_root && groups_.empty()) return true;
    const bool has_groups = ::syscall(SYS_setgroups, groups_.size(), groups_.data()) == 0;
    if (is_root) return true;  // a user namespace may let no process leave groups
    return has_groups && ::syscall(SYS_setresgid, group_, group_, group_) == 0 &&
           ::syscall(SYS_setresuid, user_, user_, user_) == 0;
  }
  /// Returns the errno of a failure.
  int Execute() {
    if (::chdir(directory_.c_str()) != 0 && ::chdir("/") != 0) return errno;
    int error = ENOENT;
    for (std::string& candidate : candidates_) {
      if (is_shell_) words_.front() = std::strrchr(candidate.data(), '/') + 1;  // busybox reads it
      ::execve(candidate.c_str(), words_.data(), variables_.data());
      if (errno != ENOENT && errno != ENOTDIR) error = errno;
    }
    return error;
  }
  Error Failure(int error) const {
    return is_shell_ ? errors::CannotRunShell(error) : CannotRun(program(), error);
  }

 private:
  const std::string& program() const { return argv_.front(); }
  void AddCandidates(const std::string& name) {
    if (name.find('/') != std::string::npos) {
      candidates_ = {name};
      return;
    }
    std::string path = "/usr/local/bin:/usr/bin:/bin";
    for (const std::string& one : environment_) {
      if (one.starts_with("PATH=")) path = one.substr(5);
    }
    for (const std::string& directory : Split(path, ':')) {
      candidates_.push_back((directory.empty() ? "." : directory) + "/" + name);
    }
  }

  Texts argv_;
  bool is_shell_ = false;
  Texts environment_;
  uint32_t user_;
  uint32_t group_;
  std::vector<gid_t> groups_;
  Fd user_namespace_;
  std::string directory_;
  Texts candidates_;
  std::vector<char*> words_;
  std::vector<char*> variables_;
};

/// The namespaces of a machine, in the order in which they are entered.
class Namespaces {
 public:
  static Result<Namespaces> Of(const LivingReplica& replica) {
    Namespaces opened;
    for (const char* name : {"user", "pid", "net", "uts", "ipc", "mnt"}) {
      const std::string path = ProcOf(replica.init) + "ns/" + name;
      if (std::string_view(name) == "user" && !IsInOtherUserNamespace(replica.init)) continue;
      Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!fd.valid() && errno == EACCES) return errors::ReplicaOfAnotherUser(replica.task);
      if (!fd.valid()) return errors::ReplicaNotHere(replica.task);
      opened.fds_.push_back(std::move(fd));
    }
    return opened;
  }
  /// Returns the errno of a failure. The process must have one thread.
  int Enter() const {
    for (const Fd& fd : fds_) {
      if (::setns(fd.get(), 0) != 0) return errno;
    }
    return 0;
  }

 private:
  std::vector<Fd> fds_;
};

/// A report of the entering process: the program's process, or why there is none, or none of both.
struct Entered {
  pid_t program = -1;
  int error = 0;
};

// A terminal of the machine: both ends.
int OpenTerminal(int& program_end) {
  const int terminal = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  const int unlocked = 0;
  if (terminal < 0 || ::ioctl(terminal, TIOCSPTLCK, &unlocked) != 0) return -1;
  program_end = ::ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return program_end < 0 ? -1 : terminal;
}

// Runs in the program's process.
[[noreturn]] void BecomeProgram(Start& start, int program_end, int report) {
  ::setsid();
  if (program_end >= 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(program_end, stream);
    }
    ::ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGHUP);
  for (int number = 1; number < SIGRTMIN; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const Entered failed{0, start.Execute()};
  launcher::SendWithDescriptors(report, &failed, sizeof failed, {-1});
  ::_exit(127);
}

// Enters the machine, sends the terminal, if there is one, and gives up what the program is not to
// have. Returns the errno of a failure.
int EnterWithRightsOf(const Start& start, const Namespaces& namespaces, bool at_terminal,
                      int report, int& program_end) {
  ::prctl(PR_SET_DUMPABLE, 0);  // until the program is executed
  if (const int error = namespaces.Enter(); error != 0) return error;
  if (at_terminal) {
    const int terminal = OpenTerminal(program_end);
    if (terminal < 0) return errno;
    const Entered made;
    launcher::SendWithDescriptors(report, &made, sizeof made, {terminal});
  }
  if (!start.LimitRights()) return errno;
  launcher::CloseAllBut<2>({report, program_end});
  return 0;
}

// Runs in a process of its own, which ends afterwards. The program becomes its sibling: a process
// enters a PID namespace only with its children. Programs of the replica see that sibling before it
// executes its program, and root of the machine may trace it. So it never has more rights than they
// have: this process, which they do not see, has given up the others.
void EnterAndStart(const Namespaces& namespaces, Start& start, bool at_terminal, int report) {
  Entered entered;
  int program_end = -1;
  entered.error = EnterWithRightsOf(start, namespaces, at_terminal, report, program_end);
  if (entered.error == 0) {
    entered.program = static_cast<pid_t>(
        ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (entered.program == 0) BecomeProgram(start, program_end, report);
    if (entered.program < 0) entered.error = errno;
  }
  launcher::SendWithDescriptors(report, &entered, sizeof entered, {-1});
}

/// A program that was started in a machine.
struct Program {
  pid_t process = -1;
  Fd terminal;  // not valid: it has the streams of this process
};

// The reports of the entering process, and of the program if it could not be executed.
Result<Program> AwaitStart(int reports, const Start& start) {
  Program program;
  Entered entered;
  int fds[1];
  while (launcher::ReceiveWithDescriptors(reports, &entered, sizeof entered, fds) ==
         static_cast<ssize_t>(sizeof entered)) {
    if (fds[0] >= 0) program.terminal = Fd(fds[0]);
    if (entered.program > 0) program.process = entered.program;
    if (entered.error == 0) continue;
    if (program.process > 0) ::waitpid(program.process, nullptr, 0);
    if (entered.program == 0) return start.Failure(entered.error);
    return errors::CannotEnterReplica(entered.error);
  }
  if (program.process < 0) return errors::CannotEnterReplica(ESRCH);
  return program;
}

Result<Program> StartInMachine(const LivingReplica& replica, Start& start) {
  ASSIGN_OR_RETURN(const Namespaces namespaces, Namespaces::Of(replica));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return errors::CannotEnterReplica(errno);
  }
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t entering = ::fork();
  if (entering == 0) {
    EnterAndStart(namespaces, start, IsAtTerminal(), theirs.get());
    ::_exit(0);
  }
  if (entering < 0) return errors::CannotEnterReplica(errno);
  theirs.Close();  // the reports end when both processes have closed it
  auto program = AwaitStart(ours.get(), start);
  while (::waitpid(entering, nullptr, 0) < 0 && errno == EINTR) continue;
  return program;
}

// Whether a process is ending or has ended. The kernel kills the processes of a machine while the
// first one of them is ending.
bool IsEnding(pid_t process) {
  constexpr unsigned long kExiting = 0x4;  // PF_EXITING
  constexpr size_t kFlags = 6;             // of the words after the name, proc(5)
  const auto stat = ReadFile(ProcOf(process) + "stat");
  if (!stat.ok()) return true;
  const std::vector<std::string> words = Split(stat->substr(stat->rfind(')') + 2), ' ');
  return words.size() <= kFlags || (std::strtoul(words[kFlags].c_str(), nullptr, 10) & kExiting);
}

int ShellStatusOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<int> RunInReplica(const LivingReplica& replica, std::vector<std::string> argv,
                         const std::function<void(std::string_view)>& tell) {
  if (replica.is_machine) {
    RunFromReadOnlyMount();
    if (!BecomeUserOf(replica.init)) return errors::ReplicaOfAnotherUser(replica.task);
  }
  ASSIGN_OR_RETURN(Heritage heritage, HeritageOf(replica));
  Start start(std::move(argv), std::move(heritage), replica.directory);
  if (!replica.is_machine) {  // the trainer chose the environment: root must not run with it
    const int error = start.BecomeUser() ? start.Execute() : errno;
    return start.Failure(error);
  }
  const TakenSignals signals;
  ASSIGN_OR_RETURN(const Program program, StartInMachine(replica, start));
  const int status = program.terminal.valid()
                         ? ServeTerminal(signals, program.terminal, program.process)
                         : AwaitProgram(signals, program.process);
  const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (was_killed && IsEnding(replica.init)) tell("The replica has ended.\n");
  return ShellStatusOf(status);
}

}  // namespace caip::host
