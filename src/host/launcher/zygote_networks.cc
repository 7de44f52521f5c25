// The part of zygote.h about the networks of runs and their helpers.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/packet_relay.h"
#include "host/launcher/way_out.h"
#include "host/launcher/zygote.h"

namespace caip::host::launcher {
namespace {

constexpr size_t kRetiredMax = 32;
// A packet at which caip-nat fails may be sent again and again.
constexpr int kShortNatsMax = 3;
constexpr int64_t kShortNat_ms = 10'000;

int64_t MillisecondsNow() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

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
    for (const int fd : {lives_[1], signals_, ends[0], kLock, keeper_control_}) ::close(fd);
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

// Most runs never need the program, so it starts with the first packet. The socket stays here for
// the next one.
void Zygote::StartNatOf(uint64_t number, Network& network) {
  network.nat = StartNat(network.made.hub.packets, folder_);
  network.nat_since = MillisecondsNow();
  if (network.nat < 0) NoteEndOfNat(number, network, W_EXITCODE(kNatIsMissing, 0));
}

// The connections that it carried are lost. The next packet starts another one, unless the last
// ones have ended soon, or there is no such program.
void Zygote::NoteEndOfNat(uint64_t number, Network& network, int status) {
  const bool is_missing = WIFEXITED(status) && WEXITSTATUS(status) == kNatIsMissing;
  const bool was_short = MillisecondsNow() - network.nat_since < kShortNat_ms;
  network.short_nats = was_short ? network.short_nats + 1 : 0;
  network.nat = is_missing || network.short_nats >= kShortNatsMax ? -1 : 0;
  Report report;
  report.kind = Report::kNatLost;
  report.wait_status = status;
  report.replica = number;
  report.is_final = network.nat < 0;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
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

}  // namespace caip::host::launcher
