#include "host/launcher/networks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/netlink.h"

namespace caip::host::launcher {

void CloseHub(const Hub& hub) {
  if (hub.network >= 0) ::close(hub.network);
  if (hub.netlink >= 0) ::close(hub.netlink);
}

namespace {

using Failure = NetlinkRequests::Failure;

constexpr int kBacklog = 512;
constexpr int kLoopbackIndex = 1;
// Indexes of devices are chosen, so that no request needs an answer to an earlier one. The two ends
// of a link must differ: the kernel activates such a device at once.
constexpr int kOwnIndex = 2000;
constexpr int kFirstHubIndex = 3000;
constexpr uint32_t kMtu = 1460;  // as in the service's networks
// A device that was linked passes packets as soon as a kernel thread has seen it.
constexpr int kLinkRounds = 1000;  // one millisecond each
constexpr char kOwnDevice[] = "eth0";

Outcome Failed(Step step) { return {step, errno}; }

Outcome FromNetlink(int error) { return error == 0 ? Outcome{} : Outcome{Step::kAddress, error}; }

void PutLink(NetlinkRequests& requests, int index, unsigned flags = 0) {
  ifinfomsg link{};
  link.ifi_index = index;
  link.ifi_flags = flags;
  link.ifi_change = flags;
  requests.Put(link);
}

void RequestUp(NetlinkRequests& requests, int index) {
  requests.Begin(RTM_NEWLINK);
  PutLink(requests, index, IFF_UP);
}

void RequestAddress(NetlinkRequests& requests, int index, uint32_t address) {
  requests.Begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  ifaddrmsg message{};
  message.ifa_family = AF_INET;
  message.ifa_prefixlen = 32;
  message.ifa_index = static_cast<unsigned>(index);
  requests.Put(message);
  requests.Attribute(IFA_LOCAL, address);
  requests.Attribute(IFA_ADDRESS, address);
}

// A route to one address, or to all if `to` is 0; `gateway` 0: by the device itself.
void RequestRoute(NetlinkRequests& requests, int index, uint32_t to, uint32_t gateway) {
  requests.Begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  rtmsg route{};
  route.rtm_family = AF_INET;
  route.rtm_dst_len = to ? 32 : 0;
  route.rtm_table = RT_TABLE_MAIN;
  route.rtm_protocol = RTPROT_STATIC;
  route.rtm_scope = gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  route.rtm_type = RTN_UNICAST;
  requests.Put(route);
  if (to) requests.Attribute(RTA_DST, to);
  if (gateway) requests.Attribute(RTA_GATEWAY, gateway);
  requests.Attribute(RTA_OIF, static_cast<uint32_t>(index));
}

// Machines have no IPv6 addresses, like those of the service. Hosts without IPv6 refuse it.
void RequestNoIpv6(NetlinkRequests& requests, int index) {
  requests.Begin(RTM_NEWLINK, 0, Failure::kIsIgnored);
  PutLink(requests, index);
  const size_t families = requests.BeginNest(IFLA_AF_SPEC);
  const size_t family = requests.BeginNest(AF_INET6);
  requests.Attribute(IFLA_INET6_ADDR_GEN_MODE, static_cast<uint8_t>(IN6_ADDR_GEN_MODE_NONE));
  requests.EndNest(family);
  requests.EndNest(families);
}

void RequestForwarding(NetlinkRequests& requests, int index) {
  requests.Begin(RTM_NEWLINK);
  PutLink(requests, index);
  const size_t families = requests.BeginNest(IFLA_AF_SPEC);
  const size_t family = requests.BeginNest(AF_INET);
  const size_t settings = requests.BeginNest(IFLA_INET_CONF);
  requests.Attribute(IPV4_DEVCONF_FORWARDING, uint32_t{1});
  requests.EndNest(settings);
  requests.EndNest(family);
  requests.EndNest(families);
}

// A pair of devices: one in the namespace of the netlink socket, eth0 in that of `network`.
void RequestPair(NetlinkRequests& requests, int index, const char* name, int network) {
  requests.Begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  PutLink(requests, index);
  requests.Attribute(IFLA_IFNAME, name);
  requests.Attribute(IFLA_MTU, kMtu);
  const size_t info = requests.BeginNest(IFLA_LINKINFO);
  requests.Attribute(IFLA_INFO_KIND, "veth");
  const size_t data = requests.BeginNest(IFLA_INFO_DATA);
  const size_t peer = requests.BeginNest(VETH_INFO_PEER);
  PutLink(requests, kOwnIndex);
  requests.Attribute(IFLA_IFNAME, kOwnDevice);
  requests.Attribute(IFLA_MTU, kMtu);
  requests.Attribute(IFLA_NET_NS_FD, static_cast<uint32_t>(network));
  requests.EndNest(peer);
  requests.EndNest(data);
  requests.EndNest(info);
}

int ConfigureHubEnd(const Hub& hub, uint32_t address, int number, int network) {
  const int index = kFirstHubIndex + number;
  char name[IFNAMSIZ];
  std::snprintf(name, sizeof name, "r%d", number);
  NetlinkRequests requests;
  RequestPair(requests, index, name, network);
  RequestNoIpv6(requests, index);
  RequestAddress(requests, index, htonl(kHubAddress));
  RequestForwarding(requests, index);
  RequestUp(requests, index);
  RequestRoute(requests, index, address, 0);
  return requests.Send(hub.netlink);
}

int ConfigureOwnEnd(int netlink, uint32_t address) {
  NetlinkRequests requests;
  RequestUp(requests, kLoopbackIndex);
  RequestNoIpv6(requests, kOwnIndex);
  RequestAddress(requests, kOwnIndex, address);
  RequestUp(requests, kOwnIndex);
  RequestRoute(requests, kOwnIndex, htonl(kHubAddress), 0);
  RequestRoute(requests, kOwnIndex, 0, htonl(kHubAddress));
  return requests.Send(netlink);
}

// Waits until both ends pass packets: the device that came up first does so a moment later.
Outcome AwaitLink() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return Failed(Step::kAddress);
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", kOwnDevice);
  bool runs = false;
  for (int rounds = 0; rounds < kLinkRounds && !runs; ++rounds) {
    if (rounds > 0) ::poll(nullptr, 0, 1);
    runs = ::ioctl(socket, SIOCGIFFLAGS, &request) == 0 && request.ifr_flags & IFF_RUNNING;
  }
  ::close(socket);
  return runs ? Outcome{} : Outcome{Step::kAddress, ENETDOWN};
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
  return outcome.ok() ? ListenAtEndpoints(number, endpoints, caip) : outcome;
}

// Runs in its own process, which ends afterwards.
Outcome Link(const Hub& hub, uint32_t address, int number, int& network) {
  if (::unshare(CLONE_NEWNET) != 0) return Failed(Step::kNetwork);
  network = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const int netlink = OpenNetlink();
  if (network < 0 || netlink < 0) return Failed(Step::kNetwork);
  int error = ConfigureHubEnd(hub, address, number, network);
  if (error == 0) error = ConfigureOwnEnd(netlink, address);
  return error == 0 ? AwaitLink() : FromNetlink(error);
}

// Calls `make` in a process of its own, and returns its outcome and the descriptors that it made.
template <typename Make>
Outcome InOwnProcess(int (&fds)[2], const Make& make) {
  fds[0] = fds[1] = -1;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Failed(Step::kNetwork);
  }
  const pid_t maker = ::fork();
  if (maker == 0) {
    const Outcome outcome = make(fds);
    if (!outcome.ok()) fds[0] = fds[1] = -1;
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
  int fds[2];
  made.outcome = InOwnProcess(fds, [&](int(&own)[2]) {
    Hub hub;
    const Outcome outcome = Make(number, endpoints, caip, hub);
    own[0] = hub.network;
    own[1] = hub.netlink;
    return outcome;
  });
  made.hub = {fds[0], fds[1]};
  return made;
}

NewLink MakeLink(const Hub& hub, uint32_t address, int number) {
  NewLink made;
  int fds[2];
  made.outcome =
      InOwnProcess(fds, [&](int(&own)[2]) { return Link(hub, address, number, own[0]); });
  made.network = fds[0];
  return made;
}

}  // namespace caip::host::launcher
