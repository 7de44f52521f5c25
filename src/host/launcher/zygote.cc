#include "host/launcher/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/lock_keeper.h"
#include "host/launcher/process_tree.h"
#include "host/launcher/replica_init.h"

namespace caip::host::launcher {
namespace {

constexpr int kDescriptors = 3;  // recipe, stdout, stderr

}  // namespace

Zygote::Zygote(int socket, int signals, std::string folder)
    : socket_(socket), signals_(signals), folder_(std::move(folder)) {
  if (::pipe2(lives_, O_CLOEXEC) != 0) std::abort();  // at its start, it has three descriptors
  void* pages = ::mmap(nullptr, kChildIdsMax * sizeof(pid_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::abort();
  child_ids_ = static_cast<pid_t*>(pages);
}

// Each machine has two descriptors here. Its programs get the limit that caip has given this
// process before its first command, because old ones use select(), which fails above 1024.
void Zygote::RaiseDescriptorLimit() {
  if (own_descriptors_.rlim_max != 0) return;
  ::getrlimit(RLIMIT_NOFILE, &own_descriptors_);
  const rlimit highest{own_descriptors_.rlim_max, own_descriptors_.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &highest);
}

void Zygote::Run() {
  std::vector<pollfd> fds;
  for (;;) {
    fds = {{socket_, POLLIN, 0}, {signals_, POLLIN, 0}};
    for (const auto& [number, network] : networks_) {
      const int packets = network.made.hub.packets;
      if (packets >= 0 && network.nat == 0) fds.push_back({packets, POLLIN, 0});
    }
    for (const auto& [replica, init] : inits_) {
      if (init.reports >= 0) fds.push_back({init.reports, POLLIN, 0});
    }
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    for (size_t i = 2; i < fds.size(); ++i) {
      if (fds[i].revents) Handle(fds[i].fd);
    }
    if (fds[1].revents) {
      signalfd_siginfo signal{};
      while (::read(signals_, &signal, sizeof signal) == sizeof signal) continue;
      Reap();
    }
    if (fds[0].revents & (POLLHUP | POLLERR)) break;  // what it has ordered is not started
    if (fds[0].revents && !Receive()) break;
  }
  EndAll();
}

// One of the descriptors for packets or reports is ready.
void Zygote::Handle(int fd) {
  for (auto& [number, network] : networks_) {
    if (network.made.hub.packets == fd) StartNatOf(number, network);
  }
  for (auto& [replica, init] : inits_) {
    if (init.reports == fd) PassReportsOn(replica, init);
  }
}

// Programs of the machine may send here, too, so only reports that are due are passed on, about its
// own replica. When the other end is closed, the machine has no init that obeys.
void Zygote::PassReportsOn(uint64_t replica, Init& init) {
  Report report;
  ssize_t size = -1;
  while (init.reports >= 0 &&
         (size = ::recv(init.reports, &report, sizeof report, MSG_DONTWAIT)) > 0) {
    const bool is_end = report.kind == Report::kEnded && !init.has_reported_end;
    const bool is_frozen = report.kind == Report::kFrozen && init.freezes > 0;
    if (size != sizeof report || !(is_end || is_frozen)) continue;
    if (is_end) {  // the init ends now; if a program sent this, its machine does
      init.has_reported_end = true;
      ::kill(init.pid, SIGKILL);
    }
    if (is_frozen) --init.freezes;
    report.replica = replica;
    report.is_removed = 0;  // no removal reports here
    report.left_running = std::max(report.left_running, 0);
    report.left[kLeftBytes - 1] = '\0';
    ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
  }
  if (size == 0) ::close(std::exchange(init.reports, -1));
}

bool Zygote::Receive() {
  RaiseDescriptorLimit();
  Command command;
  int fds[kDescriptors];
  const ssize_t size = ReceiveWithDescriptors(socket_, &command, sizeof command, fds);
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (size != sizeof command) return false;
  switch (command.kind) {
    case Command::kLaunch:
      Launch(command, fds[0], fds[1], fds[2]);
      break;
    case Command::kSignal:
      Forward(command.replica, command.signal);
      break;
    case Command::kKill:
      Forward(command.replica, SIGKILL);
      break;
    case Command::kFreeze:
      Forward(command.replica, kFreezeOrder);
      break;
    case Command::kThaw:
      Forward(command.replica, kThawOrder);
      break;
    case Command::kOpenNetwork:
      OpenNetwork(command, fds[0]);
      break;
    case Command::kLink:
      LinkAhead(command);
      break;
    case Command::kCloseNetwork:
      CloseNetwork(command.network);
      break;
    case Command::kSetFaults:
      SetFaults(command, fds[0]);
      break;
  }
  for (const int fd : fds) {
    if (fd >= 0) ::close(fd);
  }
  return true;
}

void Zygote::Launch(const Command& command, int recipe, int out, int err) {
  const uint64_t replica = command.replica;
  // The kernel drops descriptors of a message for which this process has no more room.
  if (err < 0) return RefuseLaunch(replica, {Step::kFork, EMFILE});
  const bool has_machine = command.network != 0;
  int network = -1;
  if (has_machine) {
    Network& home = networks_[command.network];
    const Outcome linked = Link(home, command.address, command.is_new != 0);
    if (!linked.ok()) return RefuseLaunch(replica, linked);
    network = home.machines[command.address];
  }
  const pid_t launcher = has_machine ? 0 : ::getpid();
  Init made{.has_machine = has_machine, .has_removal = command.has_removal != 0};
  const int reports = has_machine ? MakeReports(made) : -1;
  if (has_machine && reports < 0) return RefuseLaunch(replica, {Step::kFork, errno});
  const pid_t init = Fork(has_machine);
  if (init == 0) {
    ::close(lives_[1]);
    if (made.reports >= 0) ::close(made.reports);
    if (!has_machine && keeper_control_ >= 0) ::close(keeper_control_);
    CloseNetworksExcept(network);
    const pid_t own_id = has_machine ? child_ids_[newest_child_] : ::getpid();
    ::munmap(child_ids_, kChildIdsMax * sizeof(pid_t));
    RunReplica({.replica = replica,
                .socket = socket_,
                .signals = signals_,
                .recipe = recipe,
                .out = out,
                .err = err,
                .watch = command.watch,
                .launcher = launcher,
                .lives = lives_[0],
                .own_id = own_id,
                .network = network,
                .reports = reports,
                .lock_keeper = keeper_control_});
  }
  const int error = errno;
  if (reports >= 0) ::close(reports);
  if (init < 0) {
    if (made.reports >= 0) ::close(made.reports);
    return RefuseLaunch(replica, {has_machine ? Step::kMachine : Step::kFork, error});
  }
  made.pid = init;
  made.recipe = command.has_removal ? ::fcntl(recipe, F_DUPFD_CLOEXEC, 0) : -1;
  inits_[replica] = made;
  replicas_[init] = replica;
}

// What the init of a machine needs beside its recipe. Returns its end of the socket for reports; -1
// with errno. Without a lock keeper, the init holds the lock itself.
int Zygote::MakeReports(Init& init) {
  if (keeper_control_ < 0) StartLockKeeper();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  init.reports = ends[0];
  return ends[1];
}

// It outlives this process, if that is killed, until all machines are dead. No init waits for it.
bool Zygote::StartLockKeeper() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return false;
  }
  keeper_ = ::fork();
  if (keeper_ == 0) {
    RunLockKeeper(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  if (keeper_ < 0) ::close(ends[0]);
  keeper_control_ = keeper_ < 0 ? -1 : ends[0];
  return keeper_ > 0;
}

// The networks must not exist as long as this process, which is a child. Other machines must not
// find its end of their sockets open.
void Zygote::CloseNetworksExcept(int kept) {
  for (const auto& [replica, init] : inits_) {
    if (init.reports >= 0) ::close(init.reports);
  }
  for (const auto& [number, network] : networks_) {
    CloseHub(network.made.hub);
    if (network.control >= 0) ::close(network.control);
    for (const auto& [address, machine] : network.machines) {
      if (machine != kept) ::close(machine);
    }
    for (const int machine : network.retired) ::close(machine);
  }
}

// The kernel writes the child's process ID before the child runs. Each child has a place of its
// own: this process may make the next one before the child has read its ID.
pid_t Zygote::Fork(bool with_machine) {
  newest_child_ = (newest_child_ + 1) % kChildIdsMax;
  const unsigned long flags =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_PARENT_SETTID | SIGCHLD;
  const auto child =
      with_machine ? static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr,
                                                  &child_ids_[newest_child_], nullptr, nullptr))
                   : ::fork();
  if (child == 0) ::setrlimit(RLIMIT_NOFILE, &own_descriptors_);
  return child;
}

void Zygote::RefuseLaunch(uint64_t replica, const Outcome& outcome) {
  Report report;
  report.kind = Report::kStartFailed;
  report.step = outcome.failed;
  report.error = outcome.error;
  report.replica = replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

void Zygote::Forward(uint64_t replica, int order) {
  const auto found = inits_.find(replica);
  if (found == inits_.end()) return;  // the replica has ended, and another process may have its ID
  if (order == SIGKILL && found->second.has_machine) {
    ::kill(found->second.pid, SIGKILL);  // the kernel kills the rest of the machine
    return;
  }
  if (order == kFreezeOrder) ++found->second.freezes;
  sigval value{};
  value.sival_int = order;
  ::sigqueue(found->second.pid, CommandSignal(), value);
}

void Zygote::Reap() {
  ReapEnded([this](pid_t pid, int status, const rusage&) { NoteEnd(pid, status); });
}

void Zygote::NoteEnd(pid_t pid, int status) {
  if (pid <= 0) return;
  if (pid == keeper_) {  // the next machine gets another one
    keeper_ = 0;
    ::close(std::exchange(keeper_control_, -1));
  }
  for (auto& [number, network] : networks_) {
    if (network.nat == pid) NoteEndOfNat(number, network, status);
    if (network.relay != pid) continue;
    network.relay = -1;
    ReportLostRelay(number, status);
  }
  const auto found = replicas_.find(pid);
  if (found == replicas_.end()) return;
  const uint64_t replica = found->second;
  Init init = inits_[replica];
  PassReportsOn(replica, init);
  if (init.reports >= 0) ::close(init.reports);
  replicas_.erase(found);
  inits_.erase(replica);
  if (status != 0 && !init.has_reported_end) Lost(replica, init);
  if (init.recipe >= 0) ::close(init.recipe);
}

// Handles the death of an init that was killed by the user's program or because memory ran out. Its
// leader dies with it, and the other descendants are children of this process now, unless they were
// on a machine, which ends with its init.
void Zygote::Lost(uint64_t replica, const Init& init) {
  if (!init.has_machine) {
    KillChildren([this](pid_t pid) { return replicas_.count(pid) > 0 || IsHelper(pid); },
                 [](pid_t, int, const rusage&) {});
  }
  if (init.recipe >= 0 && RemoveInstead(replica, init.recipe)) return;
  Report report;
  report.kind = Report::kEnded;
  report.wait_status = SIGKILL;
  report.replica = replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// The new init reports the end. If it is killed, too, no other one follows.
bool Zygote::RemoveInstead(uint64_t replica, int recipe) {
  const pid_t init = Fork(false);
  if (init == 0) {
    ::close(lives_[1]);
    if (keeper_control_ >= 0) ::close(keeper_control_);
    CloseNetworksExcept(-1);
    RunRemovalOf({.replica = replica, .socket = socket_, .recipe = recipe});
  }
  if (init < 0) return false;
  inits_[replica] = {.pid = init, .has_removal = true};
  replicas_[init] = replica;
  return true;
}

bool Zygote::IsHelper(pid_t pid) const {
  return pid == keeper_ ||
         std::any_of(networks_.begin(), networks_.end(), [pid](const auto& entry) {
           return entry.second.nat == pid || entry.second.relay == pid;
         });
}

// Waits until none of these inits is left.
void Zygote::AwaitInits(const std::function<bool(const Init&)>& is_awaited) {
  const auto is_left = [&](const auto& entry) { return is_awaited(entry.second); };
  while (std::any_of(inits_.begin(), inits_.end(), is_left)) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno == ECHILD) break;
    NoteEnd(ended, status);
  }
}

// Each init notices that caip has ended, kills its tree and ends: those of machines by their
// sockets to this process. An init with a removal gives the lock back when its tree is dead. No
// emulator should wait until it has removed the rest.
void Zygote::EndAll() {
  for (auto& [replica, init] : inits_) {
    if (init.reports >= 0) ::close(std::exchange(init.reports, -1));
  }
  AwaitInits([](const Init& init) { return !init.has_removal; });
  ::close(kLock);
  if (keeper_control_ >= 0) ::close(std::exchange(keeper_control_, -1));
  AwaitInits([](const Init&) { return true; });
  while (!networks_.empty()) CloseNetwork(networks_.begin()->first);
  KillChildren([](pid_t) { return false; }, [](pid_t, int, const rusage&) {});
}

}  // namespace caip::host::launcher
