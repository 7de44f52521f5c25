// caip-nat: user-mode network address translation for the machines of one run. caip-launcher
// starts it with the first packet that leaves the run's network (src/host/launcher/way_out.h). Its
// standard input is a packet socket. libslirp ends the machines' connections here and makes them
// again with sockets of this host, as the user who runs caip.
//
// 10.128.255.254 is this host's 127.0.0.1. 10.128.255.253 is a name server, which asks those of
// this host.

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <slirp/libslirp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "host/launcher/protocol.h"

namespace caip::host::nat {
namespace {

constexpr int kPackets = STDIN_FILENO;
constexpr size_t kFrameMax = 64u << 10;
constexpr size_t kMtu = 1460;
constexpr int kFramesARound = 64;

// One translation between the packet socket and this host.
class Nat {
 public:
  Nat();
  ~Nat() { slirp_cleanup(slirp_); }
  Nat(const Nat&) = delete;
  Nat& operator=(const Nat&) = delete;

  /// Returns when the network has ended.
  void Run();

 private:
  using Hardware = std::array<uint8_t, ETH_ALEN>;
  struct ArpFrame {
    ether_header head;
    ether_arp body;
  };
  static Nat& Of(void* self) { return *static_cast<Nat*>(self); }
  bool Receive();
  ssize_t Send(const uint8_t* frame, size_t size);
  void Answer(const ArpFrame& question);

  Slirp* slirp_ = nullptr;
  SlirpCb callbacks_{};
  Hardware hub_{};                   // the device of the hub: all machines are beyond it
  std::vector<pollfd> fds_;          // of one round; the first is the packet socket
  std::vector<ArpFrame> answers_{};  // libslirp must not be called from its own callbacks
};

int64_t NanosecondsNow() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

short PollEventsFrom(int events) {
  return static_cast<short>((events & SLIRP_POLL_IN ? POLLIN : 0) |
                            (events & SLIRP_POLL_OUT ? POLLOUT : 0) |
                            (events & SLIRP_POLL_PRI ? POLLPRI : 0));
}

int SlirpEventsFrom(short events) {
  return (events & POLLIN ? SLIRP_POLL_IN : 0) | (events & POLLOUT ? SLIRP_POLL_OUT : 0) |
         (events & POLLPRI ? SLIRP_POLL_PRI : 0) | (events & POLLERR ? SLIRP_POLL_ERR : 0) |
         (events & POLLHUP ? SLIRP_POLL_HUP : 0);
}

Nat::Nat() {
  callbacks_.send_packet = [](const void* frame, size_t size, void* self) {
    return Of(self).Send(static_cast<const uint8_t*>(frame), size);
  };
  callbacks_.guest_error = [](const char*, void*) {};
  callbacks_.clock_get_ns = [](void*) { return NanosecondsNow(); };
  // Only IPv6 has timers, which is switched off.
  callbacks_.timer_new = [](SlirpTimerCb, void*, void* self) { return self; };
  callbacks_.timer_free = [](void*, void*) {};
  callbacks_.timer_mod = [](void*, int64_t, void*) {};
  callbacks_.register_poll_fd = [](int, void*) {};
  callbacks_.unregister_poll_fd = [](int, void*) {};
  callbacks_.notify = [](void*) {};
  SlirpConfig config{};
  config.version = SLIRP_CONFIG_VERSION_MAX;
  config.in_enabled = true;
  config.vnetwork.s_addr = htonl(launcher::kOutAddresses);
  config.vnetmask.s_addr = htonl(0xfffffffc);
  config.vhost.s_addr = htonl(launcher::kHostAddress);
  config.vnameserver.s_addr = htonl(launcher::kNameServerAddress);
  config.if_mtu = kMtu;
  config.if_mru = kMtu;
  config.disable_dhcp = true;
  slirp_ = slirp_new(&config, &callbacks_, this);
}

void Nat::Run() {
  while (slirp_) {
    fds_ = {{kPackets, POLLIN, 0}};
    uint32_t timeout = UINT32_MAX;
    slirp_pollfds_fill(
        slirp_, &timeout,
        [](int fd, int events, void* self) {
          Of(self).fds_.push_back({fd, PollEventsFrom(events), 0});
          return static_cast<int>(Of(self).fds_.size() - 1);
        },
        this);
    const int wait = timeout == UINT32_MAX ? -1 : static_cast<int>(timeout);
    const int ready = ::poll(fds_.data(), fds_.size(), answers_.empty() ? wait : 0);
    for (const ArpFrame& answer : std::exchange(answers_, {})) {
      slirp_input(slirp_, reinterpret_cast<const uint8_t*>(&answer), sizeof answer);
    }
    // libslirp reads the time here, and frames that arrive need it.
    slirp_pollfds_poll(
        slirp_, ready < 0,
        [](int index, void* self) {
          return SlirpEventsFrom(Of(self).fds_[static_cast<size_t>(index)].revents);
        },
        this);
    if (ready > 0 && fds_[0].revents && !Receive()) return;
  }
}

// False if the network has ended.
bool Nat::Receive() {
  static uint8_t frame[kFrameMax];
  for (int i = 0; i < kFramesARound; ++i) {
    const ssize_t size = ::recv(kPackets, frame, sizeof frame, MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
    if (size < static_cast<ssize_t>(sizeof(ether_header))) continue;
    std::copy_n(frame + ETH_ALEN, ETH_ALEN, hub_.begin());
    slirp_input(slirp_, frame, static_cast<int>(size));
  }
  return true;
}

ssize_t Nat::Send(const uint8_t* frame, size_t size) {
  ArpFrame question;
  if (size >= sizeof question) {
    std::memcpy(&question, frame, sizeof question);
    if (ntohs(question.head.ether_type) == ETHERTYPE_ARP) {
      Answer(question);
      return static_cast<ssize_t>(size);
    }
  }
  // A frame that the kernel does not take is lost, as on a wire.
  [[maybe_unused]] const ssize_t sent = ::send(kPackets, frame, size, MSG_DONTWAIT);
  return static_cast<ssize_t>(size);
}

// All machines are reached through the device of the hub, which answers no such questions itself.
void Nat::Answer(const ArpFrame& question) {
  if (ntohs(question.body.ea_hdr.ar_op) != ARPOP_REQUEST) return;
  ArpFrame answer = question;
  std::copy_n(question.head.ether_shost, ETH_ALEN, answer.head.ether_dhost);
  std::copy_n(hub_.begin(), ETH_ALEN, answer.head.ether_shost);
  answer.body.ea_hdr.ar_op = htons(ARPOP_REPLY);
  std::copy_n(hub_.begin(), ETH_ALEN, answer.body.arp_sha);
  std::copy_n(question.body.arp_tpa, sizeof answer.body.arp_tpa, answer.body.arp_spa);
  std::copy_n(question.body.arp_sha, ETH_ALEN, answer.body.arp_tha);
  std::copy_n(question.body.arp_spa, sizeof answer.body.arp_spa, answer.body.arp_tpa);
  answers_.push_back(answer);
}

}  // namespace
}  // namespace caip::host::nat

int main() {
  int family = 0;
  socklen_t size = sizeof family;
  if (::getsockopt(STDIN_FILENO, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
      family != AF_PACKET) {
    std::fputs("caip-nat is started by caip-launcher, not by people.\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  caip::host::nat::Nat().Run();
}
