#include "host/launcher/networks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/device_requests.h"
#include "host/launcher/netlink.h"
#include "host/launcher/user_namespace.h"
#include "host/launcher/way_out.h"

namespace caip::host::launcher {

Outcome GetNetworkRights() {
  if (::unshare(CLONE_NEWUTS) == 0) return {};
  if (errno != EPERM) return {Step::kMachine, errno};
  return MoveToUserNamespace(0, 0);
}

void CloseHub(const Hub& hub) {
  for (const int fd : {hub.network, hub.netlink, hub.packets}) {
    if (fd >= 0) ::close(fd);
  }
}

void CloseLastOfHub(Hub hub) {
  if (hub.packets >= 0) CloseInBackground(std::exchange(hub.packets, -1));
  CloseHub(hub);
}

void CloseInBackground(int fd) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    ::close(fd);
    return;
  }
  const char nothing = 0;
  SendWithDescriptors(ends[0], &nothing, sizeof nothing, {fd, ends[1]});
  ::close(fd);
  ::close(ends[1]);
  ::close(ends[0]);  // last, because this starts the collector
}

namespace {

constexpr int kBacklog = 512;
constexpr size_t kMadeMax = 3;  // descriptors of a hub
// Indexes of devices are chosen, so that no request needs an answer to an earlier one. The two ends
// of a link must differ: the kernel activates such a device at once.
constexpr int kOwnIndex = 2000;
constexpr int kFirstHubIndex = 3000;
constexpr char kOwnDevice[] = "eth0";

Outcome Failed(Step step) { return {step, errno}; }

Outcome FromNetlink(int error) { return error == 0 ? Outcome{} : Outcome{Step::kAddress, error}; }

int ConfigureHubEnd(const Hub& hub, uint32_t address, int number, int replaced, int network) {
  const int index = kFirstHubIndex + number;
  char name[IFNAMSIZ];
  std::snprintf(name, sizeof name, "r%d", number);
  NetlinkRequests requests;
  if (replaced > 0) RequestDown(requests, kFirstHubIndex + replaced);
  RequestPair(requests, {index, name}, {kOwnIndex, kOwnDevice, network});
  RequestNoIpv6(requests, index);
  RequestAddress(requests, index, htonl(kHubAddress));
  RequestForwarding(requests, index);
  RequestUp(requests, index);
  RequestRoute(requests, {.to = address, .length = 32, .index = index});
  return requests.Send(hub.netlink);
}

int ConfigureOwnEnd(int netlink, uint32_t address) {
  NetlinkRequests requests;
  RequestUp(requests, kLoopbackIndex);
  RequestNoIpv6(requests, kOwnIndex);
  RequestAddress(requests, kOwnIndex, address);
  RequestUp(requests, kOwnIndex);
  RequestRoute(requests, {.to = htonl(kHubAddress), .length = 32, .index = kOwnIndex});
  RequestRoute(requests, {.gateway = htonl(kHubAddress), .index = kOwnIndex});
  return requests.Send(netlink);
}

Outcome GiveHubAddresses(int netlink, const std::vector<Endpoint>& endpoints) {
  NetlinkRequests requests;
  RequestUp(requests, kLoopbackIndex);
  std::set<uint32_t> given;
  for (const Endpoint& endpoint : endpoints) {
    const bool is_loopback = ntohl(endpoint.address) >> 24 == 127;
    if (is_loopback || !given.insert(endpoint.address).second) continue;
    RequestAddress(requests, kLoopbackIndex, endpoint.address);
  }
  return FromNetlink(requests.Send(netlink));
}

Outcome ListenAtEndpoints(uint64_t network, const std::vector<Endpoint>& endpoints, int caip) {
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = endpoints[i].address;
    place.sin_port = endpoints[i].port;
    if (socket < 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        ::listen(socket, kBacklog) != 0) {
      return Failed(Step::kEndpointOpened);
    }
    Report report;
    report.kind = Report::kEndpointOpened;
    report.replica = network;
    report.endpoint = static_cast<uint32_t>(i);
    if (SendWithDescriptors(caip, &report, sizeof report, {socket}) < 0) {
      return Failed(Step::kEndpointOpened);
    }
    ::close(socket);
  }
  return {};
}

bool ReadEndpoints(int file, std::vector<Endpoint>& endpoints) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return false;
  const auto size = static_cast<size_t>(status.st_size);
  endpoints.resize(size / sizeof(Endpoint));
  return ::pread(file, endpoints.data(), size, 0) == static_cast<ssize_t>(size);
}

// Runs in its own process, which ends afterwards.
Outcome Make(uint64_t number, int endpoints_file, int caip, Hub& hub) {
  std::vector<Endpoint> endpoints;
  if (!ReadEndpoints(endpoints_file, endpoints)) return Failed(Step::kRecipe);
  if (::unshare(CLONE_NEWNET) != 0) return Failed(Step::kNetwork);
  hub.network = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  hub.netlink = OpenNetlink();
  if (hub.network < 0 || hub.netlink < 0) return Failed(Step::kNetwork);
  const Outcome outcome = GiveHubAddresses(hub.netlink, endpoints);
  if (outcome.ok()) hub.packets = MakeWayOut(hub.netlink).packets;  // machines can do without
  return outcome.ok() ? ListenAtEndpoints(number, endpoints, caip) : outcome;
}

// Runs in its own process, which ends afterwards.
Outcome Link(const Hub& hub, uint32_t address, int number, int replaced, int& network) {
  if (::unshare(CLONE_NEWNET) != 0) return Failed(Step::kNetwork);
  network = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const int netlink = OpenNetlink();
  if (network < 0 || netlink < 0) return Failed(Step::kNetwork);
  int error = ConfigureHubEnd(hub, address, number, replaced, network);
  if (error == 0) error = ConfigureOwnEnd(netlink, address);
  if (error != 0) return FromNetlink(error);
  const bool linked =
      AwaitLink(hub.netlink, kFirstHubIndex + number) && AwaitLink(netlink, kOwnIndex);
  return linked ? Outcome{} : Outcome{Step::kAddress, ENETDOWN};
}

// Calls `make` in a process of its own, and returns its outcome and the descriptors that it made.
template <typename Make>
Outcome InOwnProcess(int (&fds)[kMadeMax], const Make& make) {
  for (int& fd : fds) fd = -1;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Failed(Step::kNetwork);
  }
  const pid_t maker = ::fork();
  if (maker == 0) {
    const Outcome outcome = make(fds);
    if (!outcome.ok()) std::fill(std::begin(fds), std::end(fds), -1);
    SendWithDescriptors(ends[1], &outcome, sizeof outcome, fds);
    ::_exit(0);
  }
  Outcome outcome = Failed(Step::kNetwork);
  ::close(ends[1]);
  Outcome made;
  if (maker > 0 && ReceiveWithDescriptors(ends[0], &made, sizeof made, fds) ==
                       static_cast<ssize_t>(sizeof made)) {
    outcome = made;
    if (outcome.ok() && fds[0] < 0) outcome = {Step::kNetwork, EMFILE};
  }
  ::close(ends[0]);
  while (maker > 0 && ::waitpid(maker, nullptr, 0) < 0 && errno == EINTR) continue;
  return outcome;
}

}  // namespace

NewHub MakeHub(uint64_t number, int endpoints, int caip) {
  NewHub made;
  int fds[kMadeMax];
  made.outcome = InOwnProcess(fds, [&](int(&own)[kMadeMax]) {
    Hub hub;
    const Outcome outcome = Make(number, endpoints, caip, hub);
    own[0] = hub.network;
    own[1] = hub.netlink;
    own[2] = hub.packets;
    return outcome;
  });
  made.hub = {fds[0], fds[1], fds[2]};
  return made;
}

NewLink MakeLink(const Hub& hub, uint32_t address, int number, int replaced) {
  NewLink made;
  int fds[kMadeMax];
  made.outcome = InOwnProcess(
      fds, [&](int(&own)[kMadeMax]) { return Link(hub, address, number, replaced, own[0]); });
  made.network = fds[0];
  return made;
}

}  // namespace caip::host::launcher
