#include "host/launcher/device_requests.h"

#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/veth.h>
#include <net/if.h>

namespace caip::host::launcher {
namespace {

constexpr uint32_t kMtu = 1460;  // as in the service's networks

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
  message.rtm_table = RT_TABLE_MAIN;
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

}  // namespace caip::host::launcher
