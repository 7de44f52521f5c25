#include "host/launcher/replica_init.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "host/launcher/leader.h"
#include "host/launcher/lock_keeper.h"
#include "host/launcher/machine_root.h"
#include "host/launcher/open_descriptors.h"
#include "host/launcher/process_tree.h"
#include "host/launcher/protocol.h"
#include "host/launcher/removal.h"

namespace caip::host::launcher {
namespace {

// Processes that outlive the leader by at most this time are ending (such as Python's resource
// tracker) and are not "left running".
constexpr int kRemaining_ms = 50;

int64_t Milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

class ReplicaInit {
 public:
  explicit ReplicaInit(const ReplicaStart& start) : start_(start) {}

  [[noreturn]] void Run() {
    ::prctl(PR_SET_NAME, "caip-replica");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Wait reads SIGTERM, which is blocked. A machine needs nobody to kill its processes.
    ::prctl(PR_SET_PDEATHSIG, HasMachine() ? SIGKILL : SIGTERM);
    if (LauncherHasEnded()) ::_exit(0);
    Start();
    while (!ended_) Wait(-1);
    if (!was_killed_) AwaitRemainingProcesses();
    KillTree();
    ReportEnd();
  }

  [[noreturn]] void RunInsteadOfKilledOne() {
    ::prctl(PR_SET_NAME, "caip-replica");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    report_.replica = start_.replica;
    report_.wait_status = SIGKILL;
    if (!ReadRecipe()) recipe_ = {};
    ReportEnd();
  }

 private:
  void Start() {
    report_.replica = start_.replica;
    LeaderStart leader{-1, Step::kRecipe, EINVAL};
    if (ReadRecipe()) {
      Outcome machine = JoinGroups(recipe_);  // by the paths of the host
      if (machine.ok() && HasMachine()) machine = MakeMachine(recipe_);
      leader = machine.ok()
                   ? StartLeader(recipe_, {HasMachine(), start_.out, start_.err},
                                 {start_.watch, start_.socket, start_.replica, start_.own_id})
                   : LeaderStart{-1, machine.failed, machine.error};
    }
    ::close(start_.recipe);
    ::close(start_.out);
    ::close(start_.err);
    report_.kind = leader.failed == Step::kNone ? Report::kStarted : Report::kStartFailed;
    report_.step = leader.failed;
    report_.error = leader.error;
    report_.user_error = leader.user_error;
    report_.init = start_.own_id;
    report_.leader = leader.pid;
    leader_ = leader.pid;
    Send();
    if (leader.failed != Step::kNone) ::_exit(0);
    if (HasMachine()) HoldOnlyOwn();
    ReleaseLeader(leader);
  }

  /// Gives up what this process shares with others: root of the machine may copy its descriptors,
  /// read signals of the launcher away, or give the lock back for all. A removal needs the socket.
  void HoldOnlyOwn() {
    const int signals = OpenSignals();
    if (signals < 0 || recipe_.HasRemoval() || !EntrustToLockKeeper(start_.lock_keeper)) {
      if (signals >= 0) ::close(signals);
      ::close(start_.reports);
      if (start_.lock_keeper >= 0) ::close(start_.lock_keeper);
      return;
    }
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int own : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, own);
    CloseAllBut<2>({start_.reports, signals});
    start_.socket = start_.reports;
    start_.signals = signals;
    start_.lives = -1;  // the kernel kills this process when the launcher ends
    reports_to_launcher_ = true;
  }

  bool ReadRecipe() {
    struct stat status {};
    ::fstat(start_.recipe, &status);
    const size_t size = static_cast<size_t>(status.st_size);
    void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, start_.recipe, 0);
    return bytes != MAP_FAILED && DecodeRecipe(static_cast<char*>(bytes), size, recipe_);
  }

  // Everything that this process starts is in the groups, too.
  static Outcome JoinGroups(const Recipe& recipe) {
    for (const char* group : recipe.cgroups) {
      const int processes = ::open(group, O_WRONLY | O_CLOEXEC);
      const bool joined = processes >= 0 && ::write(processes, "0", 1) == 1;
      const int error = errno;
      if (processes >= 0) ::close(processes);
      if (!joined) return {Step::kGroup, error};
    }
    return {};
  }

  Outcome MakeMachine(const Recipe& recipe) {
    if (::setns(start_.network, CLONE_NEWNET) != 0) return {Step::kEnterNetwork, errno};
    ::close(start_.network);
    std::string failed_mount;
    const Outcome root = MakeRoot(recipe, failed_mount);
    if (!root.ok()) {
      NoteLeft(failed_mount);
      return root;
    }
    const bool named = ::sethostname(recipe.host_name, std::strlen(recipe.host_name)) == 0;
    return named ? Outcome{} : Outcome{Step::kHostName, errno};
  }

  bool HasMachine() const { return start_.network >= 0; }

  bool LauncherHasEnded() const {
    pollfd end{start_.lives, 0, 0};
    return ::poll(&end, 1, 0) > 0;
  }

  /// Waits for a signal or the end of a child, and handles it.
  void Wait(int timeout_ms) {
    pollfd fds[] = {{start_.signals, POLLIN, 0}, {start_.socket, 0, 0}};
    if (::poll(fds, 2, timeout_ms) <= 0) return;
    if (fds[1].revents & (POLLHUP | POLLERR)) KillTreeAndExit();
    signalfd_siginfo signal{};
    while (fds[0].revents && ::read(start_.signals, &signal, sizeof signal) == sizeof signal) {
      HandleSignal(signal);
    }
    ReapEnded([this](pid_t pid, int status, const rusage& usage) { Note(pid, status, usage); });
  }

  void HandleSignal(const signalfd_siginfo& signal) {
    if (LauncherHasEnded()) KillTreeAndExit();
    const bool is_command = static_cast<int>(signal.ssi_signo) == CommandSignal() &&
                            static_cast<pid_t>(signal.ssi_pid) == start_.launcher;
    if (!is_command || ended_) return;
    if (signal.ssi_int == SIGKILL) {
      was_killed_ = true;
      KillTree();
    } else if (signal.ssi_int == kFreezeOrder) {
      FreezeTree(stopped_);
      Report frozen;
      frozen.kind = Report::kFrozen;
      frozen.replica = start_.replica;
      ::send(start_.socket, &frozen, sizeof frozen, MSG_NOSIGNAL);
    } else if (signal.ssi_int == kThawOrder) {
      ThawTree(stopped_);
    } else {
      ::kill(-leader_, signal.ssi_int);
    }
  }

  /// Gives the leader's remaining processes some time to end, and counts those that do not.
  void AwaitRemainingProcesses() {
    const int64_t until_ms = Milliseconds() + kRemaining_ms;
    int64_t now_ms;
    while (!Children().empty() && (now_ms = Milliseconds()) < until_ms) {
      Wait(static_cast<int>(until_ms - now_ms));
    }
    const std::vector<pid_t> left = Children();
    report_.left_running = static_cast<int32_t>(left.size());
    for (const pid_t child : left) NoteLeft(std::to_string(child) + " " + CommandOf(child) + "\n");
  }

  void NoteLeft(const std::string& line) {
    const size_t used = std::strlen(report_.left);
    if (used + line.size() < sizeof report_.left) line.copy(report_.left + used, line.size());
  }

  void KillTree() {
    KillChildren([](pid_t) { return false; },
                 [this](pid_t pid, int status, const rusage& usage) { Note(pid, status, usage); });
  }

  void Note(pid_t pid, int status, const rusage& usage) {
    if (pid != leader_ || ended_) return;
    ended_ = true;
    report_.wait_status = status;
    report_.max_rss_kib = usage.ru_maxrss;
  }

  void Send() { ::send(start_.socket, &report_, sizeof report_, MSG_NOSIGNAL); }

  /// Handles the end of caip or the launcher, after which no process receives reports.
  [[noreturn]] void KillTreeAndExit() {
    KillTree();
    Remove();
    ::_exit(reports_to_launcher_ ? 1 : 0);  // it may live, and reports the end for this process
  }

  [[noreturn]] void ReportEnd() {
    Remove();
    report_.kind = Report::kEnded;
    Send();
    ::_exit(0);
  }

  void Remove() {
    if (!recipe_.HasRemoval()) return;
    ::close(kLock);  // nothing is started any more
    report_.is_removed = RunRemoval(recipe_, start_.socket);
    KillTree();  // what the command has left
  }

  ReplicaStart start_;
  Recipe recipe_;
  Report report_;
  pid_t leader_ = -1;
  StoppedProcesses stopped_;  // by kFreezeOrder, until kThawOrder
  bool ended_ = false;
  bool was_killed_ = false;
  bool reports_to_launcher_ = false;
};

}  // namespace

int CommandSignal() { return SIGRTMIN; }

int OpenSignals() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int number : {SIGCHLD, SIGTERM, CommandSignal()}) ::sigaddset(&heard, number);
  return ::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

void RunReplica(const ReplicaStart& start) { ReplicaInit(start).Run(); }

void RunRemovalOf(const ReplicaStart& start) { ReplicaInit(start).RunInsteadOfKilledOne(); }

}  // namespace caip::host::launcher
