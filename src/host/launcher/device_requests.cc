#include "host/launcher/device_requests.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace caip::host::launcher {
namespace {

constexpr uint32_t kMtu = 1460;  // as in the service's networks
constexpr timespec kLinkPause{0, 200'000};
constexpr int kLinkRounds = 10'000;  // two seconds
constexpr int kBufferBytes = 4 << 20;

void PutLink(NetlinkRequests& requests, int index, unsigned flags = 0) {
  ifinfomsg link{};
  link.ifi_index = index;
  link.ifi_flags = flags;
  link.ifi_change = flags;
  requests.Put(link);
}

void PutPairEnd(NetlinkRequests& requests, const PairEnd& end) {
  PutLink(requests, end.index);
  requests.Attribute(IFLA_IFNAME, end.name);
  requests.Attribute(IFLA_MTU, kMtu);
  if (end.network >= 0) {
    requests.Attribute(IFLA_NET_NS_FD, static_cast<uint32_t>(end.network));
  }
}

}  // namespace

void RequestUp(NetlinkRequests& requests, int index, unsigned flags) {
  requests.Begin(RTM_NEWLINK);
  PutLink(requests, index, IFF_UP | flags);
}

void RequestDown(NetlinkRequests& requests, int index) {
  requests.Begin(RTM_NEWLINK, 0, NetlinkRequests::Failure::kIsIgnored);
  ifinfomsg link{};
  link.ifi_index = index;
  link.ifi_change = IFF_UP;
  requests.Put(link);
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

void RequestRoute(NetlinkRequests& requests, const Route& route) {
  requests.Begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  const bool is_direct = route.gateway == 0 && route.type == RTN_UNICAST;
  rtmsg message{};
  message.rtm_family = AF_INET;
  message.rtm_dst_len = route.length;
  message.rtm_table = route.table;
  message.rtm_protocol = RTPROT_STATIC;
  message.rtm_scope = is_direct ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  message.rtm_type = route.type;
  requests.Put(message);
  if (route.to) requests.Attribute(RTA_DST, route.to);
  if (route.gateway) requests.Attribute(RTA_GATEWAY, route.gateway);
  if (route.index) requests.Attribute(RTA_OIF, static_cast<uint32_t>(route.index));
}

void RequestNoIpv6(NetlinkRequests& requests, int index) {
  requests.Begin(RTM_NEWLINK, 0, NetlinkRequests::Failure::kIsIgnored);
  PutLink(requests, index);
  const size_t families = requests.BeginNest(IFLA_AF_SPEC);
  const size_t family = requests.BeginNest(AF_INET6);
  requests.Attribute(IFLA_INET6_ADDR_GEN_MODE, static_cast<uint8_t>(IN6_ADDR_GEN_MODE_NONE));
  requests.EndNest(family);
  requests.EndNest(families);
}

namespace {

// Switches a setting of /proc/sys/net/ipv4/conf/DEVICE on.
void RequestSetting(NetlinkRequests& requests, int index, uint16_t setting) {
  requests.Begin(RTM_NEWLINK);
  PutLink(requests, index);
  const size_t families = requests.BeginNest(IFLA_AF_SPEC);
  const size_t family = requests.BeginNest(AF_INET);
  const size_t settings = requests.BeginNest(IFLA_INET_CONF);
  requests.Attribute(setting, uint32_t{1});
  requests.EndNest(settings);
  requests.EndNest(family);
  requests.EndNest(families);
}

void PutRule(NetlinkRequests& requests, const Rule& rule) {
  fib_rule_hdr head{};
  head.family = AF_INET;
  head.src_len = rule.from ? 32 : 0;
  head.dst_len = rule.to ? 32 : 0;
  head.table = rule.table;
  head.action = FR_ACT_TO_TBL;
  requests.Put(head);
  requests.Attribute(FRA_PRIORITY, rule.priority);
  if (rule.from) requests.Attribute(FRA_SRC, rule.from);
  if (rule.to) requests.Attribute(FRA_DST, rule.to);
  if (rule.device) requests.Attribute(FRA_IIFNAME, rule.device);
  if (rule.protocol) requests.Attribute(FRA_IP_PROTO, rule.protocol);
}

}  // namespace

void RequestForwarding(NetlinkRequests& requests, int index) {
  RequestSetting(requests, index, IPV4_DEVCONF_FORWARDING);
}

void RequestOwnSources(NetlinkRequests& requests, int index) {
  RequestSetting(requests, index, IPV4_DEVCONF_ACCEPT_LOCAL);
}

void RequestRule(NetlinkRequests& requests, const Rule& rule) {
  requests.Begin(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
  PutRule(requests, rule);
}

void RequestNoRule(NetlinkRequests& requests, const Rule& rule) {
  requests.Begin(RTM_DELRULE);
  PutRule(requests, rule);
}

void RequestPair(NetlinkRequests& requests, const PairEnd& first, const PairEnd& second) {
  requests.Begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  PutPairEnd(requests, first);
  const size_t info = requests.BeginNest(IFLA_LINKINFO);
  requests.Attribute(IFLA_INFO_KIND, "veth");
  const size_t data = requests.BeginNest(IFLA_INFO_DATA);
  const size_t peer = requests.BeginNest(VETH_INFO_PEER);
  PutPairEnd(requests, second);
  requests.EndNest(peer);
  requests.EndNest(data);
  requests.EndNest(info);
}

namespace {

ifreq RequestFor(const char* device) {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
  return request;
}

}  // namespace

bool AwaitLink(int netlink, int index) {
  for (int rounds = 0; rounds < kLinkRounds; ++rounds) {
    if (IsOperational(netlink, index)) return true;
    ::ppoll(nullptr, 0, &kLinkPause, nullptr);
  }
  return false;
}

int FillChecksums(const char* device) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  ethtool_value off{ETHTOOL_STXCSUM, 0};
  ifreq request = RequestFor(device);
  request.ifr_data = reinterpret_cast<char*>(&off);
  const int error = ::ioctl(socket, SIOCETHTOOL, &request) == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

int OpenPacketSocket(int index) {
  sockaddr_ll place{};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETH_P_IP);
  place.sll_ifindex = index;
  const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    const int error = errno;
    ::close(socket);
    errno = error;
    return -1;
  }
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  return socket;
}

}  // namespace caip::host::launcher
