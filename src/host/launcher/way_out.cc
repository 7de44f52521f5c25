#include "host/launcher/way_out.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "host/launcher/device_requests.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {
namespace {

constexpr int kOutIndex = 2001;
constexpr int kPacketsIndex = 2002;
constexpr char kOutDevice[] = "out0";
constexpr char kPacketsDevice[] = "out1";
constexpr int kBufferBytes = 4 << 20;
constexpr char kNatProgram[] = "caip-nat";

// caip-nat receives packets as they would be on a wire: with checksums, and none above the MTU.
int FillChecksums() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  ethtool_value off{ETHTOOL_STXCSUM, 0};
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", kOutDevice);
  request.ifr_data = reinterpret_cast<char*>(&off);
  const int error = ::ioctl(socket, SIOCETHTOOL, &request) == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

int MakeDevices(int netlink) {
  NetlinkRequests requests;
  RequestPair(requests, {kOutIndex, kOutDevice}, {kPacketsIndex, kPacketsDevice});
  for (const int index : {kOutIndex, kPacketsIndex}) RequestNoIpv6(requests, index);
  RequestForwarding(requests, kOutIndex);
  RequestUp(requests, kPacketsIndex, IFF_NOARP);
  RequestUp(requests, kOutIndex, IFF_NOARP);
  // An address of the machines' network that no machine has leads nowhere.
  RequestRoute(requests, {.to = htonl(kNetworkAddress), .length = 16, .type = RTN_UNREACHABLE});
  RequestRoute(requests, {.to = htonl(kOutAddresses), .length = 30, .index = kOutIndex});
  RequestRoute(requests, {.index = kOutIndex});
  const int error = requests.Send(netlink);
  return error != 0 ? error : FillChecksums();
}

}  // namespace

WayOut MakeWayOut(int netlink) {
  WayOut made;
  made.error = MakeDevices(netlink);
  if (made.error != 0) return made;
  sockaddr_ll place{};
  place.sll_family = AF_PACKET;
  place.sll_protocol = htons(ETH_P_IP);
  place.sll_ifindex = kPacketsIndex;
  const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    made.error = errno;
    if (socket >= 0) ::close(socket);
    return made;
  }
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  made.packets = socket;
  return made;
}

pid_t StartNat(int packets) {
  const pid_t launcher = ::getpid();
  const pid_t nat = ::fork();
  if (nat != 0) return nat;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char own[PATH_MAX] = {};
  const ssize_t length = ::readlink("/proc/self/exe", own, sizeof own - 1);
  const int errors = ::open("/dev/null", O_WRONLY);
  if (length < 0 || errors < 0 || ::getppid() != launcher) ::_exit(1);
  std::string program(own, static_cast<size_t>(length));
  program = program.substr(0, program.rfind('/') + 1) + kNatProgram;
  ::dup2(packets, STDIN_FILENO);
  ::dup2(errors, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execl(program.c_str(), kNatProgram, static_cast<char*>(nullptr));
  ::_exit(1);
}

}  // namespace caip::host::launcher
