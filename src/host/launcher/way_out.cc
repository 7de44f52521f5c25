#include "host/launcher/way_out.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
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
constexpr char kNatProgram[] = "caip-nat";

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
  return error != 0 ? error : FillChecksums(kOutDevice);
}

}  // namespace

WayOut MakeWayOut(int netlink) {
  WayOut made;
  made.error = MakeDevices(netlink);
  if (made.error != 0) return made;
  made.packets = OpenPacketSocket(kPacketsIndex);
  if (made.packets < 0) made.error = errno;
  return made;
}

pid_t StartNat(int packets, const std::string& folder) {
  const pid_t launcher = ::getpid();
  const pid_t nat = ::fork();
  if (nat != 0) return nat;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int errors = ::open("/dev/null", O_WRONLY);
  if (errors < 0 || ::getppid() != launcher) ::_exit(kNatIsMissing);
  const std::string program = folder + kNatProgram;
  ::dup2(packets, STDIN_FILENO);
  ::dup2(errors, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execl(program.c_str(), kNatProgram, static_cast<char*>(nullptr));
  ::_exit(kNatIsMissing);
}

}  // namespace caip::host::launcher
