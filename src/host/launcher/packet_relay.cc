#include "host/launcher/packet_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/device_requests.h"
#include "host/launcher/protocol.h"
#include "host/network/packet_faults.h"

namespace caip::host::launcher {
namespace {

constexpr int kFaultsIndex = 2003;
constexpr int kRelayIndex = 2004;
constexpr char kFaultsDevice[] = "flt0";
constexpr char kRelayDevice[] = "flt1";
constexpr uint8_t kFaultsTable = 100;
// What the relay sends back is routed as usual. The rules of faulty pairs come before the hub's own
// addresses, so the kernel's first rule moves down.
constexpr Rule kOwnRules[] = {
    {.priority = 1, .table = RT_TABLE_LOCAL, .device = kFaultsDevice},
    {.priority = 2, .table = RT_TABLE_MAIN, .device = kFaultsDevice},
    {.priority = 4, .table = RT_TABLE_LOCAL},
};
constexpr Rule kFirstRule{.priority = 0, .table = RT_TABLE_LOCAL};
constexpr uint32_t kPairPriority = 3;
// A rule for all protocols would also keep the hub from answering a machine's ARP requests.
constexpr uint8_t kProtocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};
constexpr size_t kFrameMax = 64u << 10;
constexpr size_t kFramesARound = 64;
constexpr size_t kWaitingMax = 20'000;  // packets; a full queue loses more

using Frame = std::vector<uint8_t>;

int64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Turns a setting of this network off. Returns 0, or an errno.
int TurnOff(const char* setting) {
  const int fd = ::open(setting, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::write(fd, "0", 1) == 1 ? 0 : errno;
  ::close(fd);
  return error;
}

// The sources of packets are not checked against the way back, which differs here. Hosts whose
// check is loose or off can do without.
void CheckNoSources() { (void)TurnOff("/proc/sys/net/ipv4/conf/all/rp_filter"); }

// A packet whose connection ends in the hub, as those of storage do, is not matched with its socket
// when it arrives: the kernel loses matched packets that are routed to the relay instead.
int MatchNoSockets() { return TurnOff("/proc/sys/net/ipv4/ip_early_demux"); }

PacketBytes PacketOf(const Frame& frame) {
  return {frame.data() + sizeof(ether_header), frame.size() - sizeof(ether_header)};
}

class Relay {
 public:
  explicit Relay(const RelayStart& start) : start_(start) {}

  void Run() {
    made_ = Make();
    for (;;) {
      pollfd fds[] = {{start_.control, POLLIN, 0}, {packets_, POLLIN, 0}};
      const int64_t wait_ns = waiting_.empty() ? 0 : std::max<int64_t>(0, NextDue() - NowNs());
      const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
      if (::ppoll(fds, 2, waiting_.empty() ? nullptr : &wait, nullptr) < 0) continue;
      SendDue();
      if (fds[0].revents && !ReceiveCommand()) return;
      if (fds[1].revents) ReceivePackets(kFramesARound);
    }
  }

 private:
  using Pair = std::pair<uint32_t, uint32_t>;  // from, to

  Outcome Make() {
    if (::setns(start_.network, CLONE_NEWNET) != 0) return {Step::kRelay, errno};
    netlink_ = OpenNetlink();
    if (netlink_ < 0) return {Step::kRelay, errno};
    CheckNoSources();
    unmatched_ = MatchNoSockets();
    NetlinkRequests requests;
    RequestPair(requests, {kFaultsIndex, kFaultsDevice}, {kRelayIndex, kRelayDevice});
    for (const int index : {kFaultsIndex, kRelayIndex}) RequestNoIpv6(requests, index);
    RequestForwarding(requests, kFaultsIndex);
    RequestOwnSources(requests, kFaultsIndex);
    RequestUp(requests, kRelayIndex, IFF_NOARP);
    RequestUp(requests, kFaultsIndex, IFF_NOARP);
    RequestRoute(requests, {.index = kFaultsIndex, .table = kFaultsTable});
    int error = requests.Send(netlink_);
    if (error == 0) error = FillChecksums(kFaultsDevice);
    if (error != 0) return {Step::kRelay, error};
    const bool linked = AwaitLink(netlink_, kFaultsIndex) && AwaitLink(netlink_, kRelayIndex);
    if (!linked) return {Step::kRelay, ENETDOWN};
    packets_ = OpenPacketSocket(kRelayIndex);
    return packets_ < 0 ? Outcome{Step::kRelay, errno} : MakeRules();
  }

  Outcome MakeRules() const {
    NetlinkRequests requests;
    for (const Rule& rule : kOwnRules) RequestRule(requests, rule);
    RequestNoRule(requests, kFirstRule);
    const int error = requests.Send(netlink_);
    return error == 0 ? Outcome{} : Outcome{Step::kRule, error};
  }

  bool ReceiveCommand() {
    Command command;
    int fds[1];
    const ssize_t size = ReceiveWithDescriptors(start_.control, &command, sizeof command, fds);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    if (size != sizeof command) return false;
    const Outcome outcome = made_.ok() ? SetFaults(fds[0]) : made_;
    if (fds[0] >= 0) ::close(fds[0]);
    Report report;
    report.kind = Report::kFaultsSet;
    report.step = outcome.failed;
    report.error = outcome.error;
    report.replica = command.replica;
    ::send(start_.caip, &report, sizeof report, MSG_NOSIGNAL);
    return true;
  }

  Outcome SetFaults(int file) {
    struct stat status {};
    if (::fstat(file, &status) != 0) return {Step::kRecipe, errno};
    const auto size = static_cast<size_t>(status.st_size);
    std::vector<PacketFault> faults(size / sizeof(PacketFault));
    if (::pread(file, faults.data(), size, 0) != static_cast<ssize_t>(size)) {
      return {Step::kRecipe, errno};
    }
    std::set<Pair> pairs;
    for (const PacketFault& fault : faults) {
      pairs.insert({fault.from, fault.to});
      if (unmatched_ != 0 && fault.kind != PacketFault::kDrop) return {Step::kRelay, unmatched_};
    }
    ReceivePackets(kWaitingMax);         // sent while the earlier faults were in effect
    faults_.Replace(std::move(faults));  // before packets come by the new rules
    return RoutePairs(pairs);
  }

  // The kernel forgets the routes of open connections when a rule changes.
  Outcome RoutePairs(const std::set<Pair>& pairs) {
    if (pairs == routed_) return {};
    NetlinkRequests requests;
    for (const uint8_t protocol : kProtocols) {
      for (const Pair& pair : pairs) {
        if (!routed_.count(pair)) RequestRule(requests, RuleOf(pair, protocol));
      }
      for (const Pair& pair : routed_) {
        if (!pairs.count(pair)) RequestNoRule(requests, RuleOf(pair, protocol));
      }
    }
    routed_ = pairs;
    const int error = requests.Send(netlink_);
    return error == 0 ? Outcome{} : Outcome{Step::kRule, error};
  }

  static Rule RuleOf(const Pair& pair, uint8_t protocol) {
    return {.priority = kPairPriority,
            .table = kFaultsTable,
            .from = pair.first,
            .to = pair.second,
            .protocol = protocol};
  }

  /// Those that have arrived, at most so many.
  void ReceivePackets(size_t count_max) {
    static uint8_t bytes[kFrameMax];
    for (size_t i = 0; i < count_max; ++i) {
      const ssize_t size = ::recv(packets_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (size < 0) return;
      if (size < static_cast<ssize_t>(sizeof(ether_header))) continue;
      Handle(Frame(bytes, bytes + size));
    }
  }

  void Handle(Frame frame) {
    const PacketFate fate = faults_.Decide(PacketOf(frame));
    if (fate.kind == PacketFate::kIsLost) return;
    if (fate.kind == PacketFate::kIsRefused) return Refuse(frame);
    if (fate.delay_ns == 0) return Send(frame);
    if (waiting_.size() < kWaitingMax) waiting_.emplace(NowNs() + fate.delay_ns, std::move(frame));
  }

  // The header of the link leads to the hub in both directions.
  void Refuse(const Frame& frame) {
    const std::vector<uint8_t> refusal = RefusalOf(PacketOf(frame));
    Frame answer(frame.begin(), frame.begin() + sizeof(ether_header));
    answer.insert(answer.end(), refusal.begin(), refusal.end());
    Send(answer);
  }

  int64_t NextDue() const { return waiting_.begin()->first; }

  void SendDue() {
    while (!waiting_.empty() && NextDue() <= NowNs()) {
      Send(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  // A frame that the kernel does not take is lost, as on a wire.
  void Send(const Frame& frame) {
    [[maybe_unused]] const ssize_t sent =
        ::send(packets_, frame.data(), frame.size(), MSG_DONTWAIT);
  }

  const RelayStart start_;
  int netlink_ = -1;
  int packets_ = -1;
  Outcome made_;
  int unmatched_ = 0;  // an errno: the kernel loses packets, which only kDrop may do
  PacketFaults faults_;
  std::set<Pair> routed_;
  std::multimap<int64_t, Frame> waiting_;  // by the time at which they are sent, then in order
};

}  // namespace

void RunRelay(const RelayStart& start) { Relay(start).Run(); }

}  // namespace caip::host::launcher
