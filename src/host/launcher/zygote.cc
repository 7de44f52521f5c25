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

#include "host/launcher/descriptor_message.h"
#include "host/launcher/packet_relay.h"
#include "host/launcher/process_tree.h"
#include "host/launcher/replica_init.h"
#include "host/launcher/way_out.h"

namespace caip::host::launcher {
namespace {

constexpr int kDescriptors = 3;  // recipe, stdout, stderr
constexpr size_t kRetiredMax = 32;

}  // namespace

Zygote::Zygote(int socket, int signals) : socket_(socket), signals_(signals) {
  if (::pipe2(lives_, O_CLOEXEC) != 0) std::abort();  // at its start, it has three descriptors
  void* pages = ::mmap(nullptr, kChildIdsMax * sizeof(pid_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) std::abort();
  child_ids_ = static_cast<pid_t*>(pages);
}

void Zygote::Run() {
  std::vector<pollfd> fds;
  for (;;) {
    fds = {{socket_, POLLIN, 0}, {signals_, POLLIN, 0}};
    for (const auto& [number, network] : networks_) {
      const int packets = network.made.hub.packets;
      if (packets >= 0 && !network.nat) fds.push_back({packets, POLLIN, 0});
    }
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    for (size_t i = 2; i < fds.size(); ++i) {
      if (fds[i].revents) StartNatOf(fds[i].fd);
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

// Most runs never need the program, so it starts with the first packet.
void Zygote::StartNatOf(int packets) {
  for (auto& [number, network] : networks_) {
    if (network.made.hub.packets != packets) continue;
    network.nat = StartNat(packets);
    ::close(packets);
    network.made.hub.packets = -1;
  }
}

bool Zygote::Receive() {
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
  const pid_t init = Fork(has_machine);
  if (init == 0) {
    ::close(lives_[1]);
    CloseNetworksExcept(network);
    RunReplica({.replica = replica,
                .socket = socket_,
                .signals = signals_,
                .recipe = recipe,
                .out = out,
                .err = err,
                .watch = command.watch,
                .launcher = launcher,
                .lives = lives_[0],
                .own_id = has_machine ? child_ids_[newest_child_] : ::getpid(),
                .network = network});
  }
  if (init < 0) return RefuseLaunch(replica, {has_machine ? Step::kMachine : Step::kFork, errno});
  const int kept = command.has_removal ? ::fcntl(recipe, F_DUPFD_CLOEXEC, 0) : -1;
  inits_[replica] = {init, has_machine, command.has_removal != 0, kept};
  replicas_[init] = replica;
}

// The networks must not exist as long as this process, which is a child.
void Zygote::CloseNetworksExcept(int kept) {
  for (const auto& [number, network] : networks_) {
    CloseHub(network.made.hub);
    if (network.control >= 0) ::close(network.control);
    for (const auto& [address, machine] : network.machines) {
      if (machine != kept) ::close(machine);
    }
    for (const int machine : network.retired) ::close(machine);
  }
}

// Gives a new machine a network namespace of its own. The kernel takes long to delete one and makes
// others wait meanwhile, so those that were replaced stay until the network closes.
Outcome Zygote::Link(Network& network, uint32_t address, bool is_new) {
  if (!network.made.outcome.ok()) return network.made.outcome;
  const auto found = network.machines.find(address);
  if (found != network.machines.end() && !is_new) return {};
  int& number = network.numbers[address];
  const NewLink made = MakeLink(network.made.hub, address, ++network.links, number);
  number = network.links;
  if (!made.outcome.ok()) return made.outcome;
  if (found != network.machines.end()) network.retired.push_back(found->second);
  network.machines[address] = made.network;
  if (network.retired.size() < kRetiredMax) return {};
  for (const int machine : network.retired) ::close(machine);
  network.retired.clear();
  return {};
}

// If it fails, the launch finds no machine at the address, tries once more and reports the failure.
void Zygote::LinkAhead(const Command& command) {
  Network& network = networks_[command.network];
  if (Link(network, command.address, command.is_new != 0).ok()) return;
  const auto old = network.machines.extract(command.address);
  if (!old.empty()) network.retired.push_back(old.mapped());
}

// The kernel writes the child's process ID before the child runs. Each child has a place of its
// own: this process may make the next one before the child has read its ID.
pid_t Zygote::Fork(bool with_machine) {
  if (!with_machine) return ::fork();
  newest_child_ = (newest_child_ + 1) % kChildIdsMax;
  const unsigned long flags =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_PARENT_SETTID | SIGCHLD;
  return static_cast<pid_t>(
      ::syscall(SYS_clone, flags, nullptr, &child_ids_[newest_child_], nullptr, nullptr));
}

void Zygote::RefuseLaunch(uint64_t replica, const Outcome& outcome) {
  Report report;
  report.kind = Report::kStartFailed;
  report.step = outcome.failed;
  report.error = outcome.error;
  report.replica = replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

void Zygote::OpenNetwork(const Command& command, int endpoints) {
  NewHub made;
  made.outcome = has_rights_ ? Outcome{} : GetNetworkRights();
  has_rights_ = made.outcome.ok();
  if (has_rights_) made = MakeHub(command.network, endpoints, socket_);
  CloseNetwork(command.network);
  networks_[command.network].made = made;
  Report report;
  report.kind = made.outcome.ok() ? Report::kNetworkOpened : Report::kNetworkFailed;
  report.step = made.outcome.failed;
  report.error = made.outcome.error;
  report.replica = command.network;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// A network's namespaces end when they have no process and their endpoints have no open socket.
void Zygote::CloseNetwork(uint64_t network) {
  const auto found = networks_.find(network);
  if (found == networks_.end()) return;
  CloseLastOfHub(found->second.made.hub);
  if (found->second.control >= 0) ::close(found->second.control);
  for (const pid_t child : {found->second.nat, found->second.relay}) {
    if (child > 0) ::kill(child, SIGKILL);
  }
  for (const auto& [address, machine] : found->second.machines) ::close(machine);
  for (const int machine : found->second.retired) ::close(machine);
  networks_.erase(found);
}

// The relay reports to caip itself. Without one, there is nobody else to report the failure.
void Zygote::SetFaults(const Command& command, int faults) {
  const auto found = networks_.find(command.network);
  bool sent = found != networks_.end() && found->second.made.outcome.ok();
  errno = ENOENT;
  if (sent && found->second.relay == 0) sent = StartRelayOf(command.network);
  sent = sent && SendWithDescriptors(found->second.control, &command, sizeof command, {faults}) > 0;
  if (sent) return;
  Report report;
  report.kind = Report::kFaultsSet;
  report.step = Step::kRelay;
  report.error = errno;
  report.replica = command.replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// Most runs have no faults of the network, so the relay starts with the first one.
bool Zygote::StartRelayOf(uint64_t number) {
  Network& network = networks_[number];
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const pid_t launcher = ::getpid();
  const int hub = ::fcntl(network.made.hub.network, F_DUPFD_CLOEXEC, 0);
  const pid_t relay = hub < 0 ? -1 : ::fork();
  if (relay == 0) {
    ::prctl(PR_SET_NAME, "caip-relay");
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(0);
    for (const int fd : {lives_[1], signals_, ends[0], kLock}) ::close(fd);
    CloseNetworksExcept(-1);
    RunRelay({hub, ends[1], socket_});
    ::_exit(0);
  }
  const int error = errno;
  ::close(ends[1]);
  if (hub >= 0) ::close(hub);
  errno = error;
  if (relay < 0) {
    ::close(ends[0]);
    return false;
  }
  network.relay = relay;
  network.control = ends[0];
  return true;
}

void Zygote::Forward(uint64_t replica, int order) {
  const auto found = inits_.find(replica);
  if (found == inits_.end()) return;  // the replica has ended, and another process may have its ID
  if (order == SIGKILL && found->second.has_machine) {
    ::kill(found->second.pid, SIGKILL);  // the kernel kills the rest of the machine
    return;
  }
  sigval value{};
  value.sival_int = order;
  ::sigqueue(found->second.pid, CommandSignal(), value);
}

void Zygote::Reap() {
  ReapEnded([this](pid_t pid, int status, const rusage&) { NoteEnd(pid, status); });
}

void Zygote::NoteEnd(pid_t pid, int status) {
  for (auto& [number, network] : networks_) {
    if (network.nat == pid) network.nat = -1;  // another process may get its ID
    if (network.relay != pid) continue;
    network.relay = -1;
    ReportLostRelay(number, status);
  }
  const auto found = replicas_.find(pid);
  if (found == replicas_.end()) return;
  const uint64_t replica = found->second;
  const int recipe = inits_[replica].recipe;
  replicas_.erase(found);
  inits_.erase(replica);
  if (status != 0) Lost(replica, recipe);
  if (recipe >= 0) ::close(recipe);
}

// The packets that the hub routes to it are lost from now on. A relay ends only with its network,
// which is not known any more then.
void Zygote::ReportLostRelay(uint64_t network, int status) {
  Report report;
  report.kind = Report::kRelayLost;
  report.wait_status = status;
  report.replica = network;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// Handles the death of an init that was killed by the user's program or because memory ran out. Its
// leader dies with it, and the other descendants are children of this process now.
void Zygote::Lost(uint64_t replica, int recipe) {
  KillChildren([this](pid_t pid) { return replicas_.count(pid) > 0 || IsOfNetwork(pid); },
               [](pid_t, int, const rusage&) {});
  if (recipe >= 0 && RemoveInstead(replica, recipe)) return;
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
    CloseNetworksExcept(-1);
    RunRemovalOf({.replica = replica, .socket = socket_, .recipe = recipe});
  }
  if (init < 0) return false;
  inits_[replica] = {init, false, true, -1};
  replicas_[init] = replica;
  return true;
}

bool Zygote::IsOfNetwork(pid_t pid) const {
  return std::any_of(networks_.begin(), networks_.end(), [pid](const auto& entry) {
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

// Each init notices by itself that caip has ended, kills its tree and ends. An init with a removal
// gives the lock back when its tree is dead. No emulator should wait until it has removed the rest.
void Zygote::EndAll() {
  AwaitInits([](const Init& init) { return !init.has_removal; });
  ::close(kLock);
  AwaitInits([](const Init&) { return true; });
  while (!networks_.empty()) CloseNetwork(networks_.begin()->first);
  KillChildren([](pid_t) { return false; }, [](pid_t, int, const rusage&) {});
}

}  // namespace caip::host::launcher
