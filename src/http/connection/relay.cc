#include "http/connection/relay.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace caip::http {
namespace {

constexpr size_t kRelayPieceBytes = 64 << 10;

bool IsElsewhereV4(uint32_t address) {  // in the host's order
  const uint32_t first = address >> 24;
  const bool link_local = address >> 16 == (169u << 8 | 254u);
  return first != 0 && first != 127 && first < 224 && !link_local;
}

// One direction. What was received and not yet sent is [begin, end) of the piece.
class Pipe {
 public:
  Pipe(int from, int to, std::string_view already)
      : from_(from), to_(to), piece_(std::max(kRelayPieceBytes, already.size())) {
    already.copy(piece_.data(), already.size());
    end_ = already.size();
  }
  bool over() const { return over_; }
  bool wants_read() const { return !over_ && begin_ == end_ && !source_ended_; }
  bool wants_write() const { return !over_ && begin_ < end_; }

  // False when the connection is broken.
  bool Read() {
    const ssize_t count = ::recv(from_, piece_.data(), piece_.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    begin_ = 0;
    end_ = static_cast<size_t>(count);
    source_ended_ = count == 0;
    if (source_ended_) Finish();
    return true;
  }
  bool Write() {
    const ssize_t count =
        ::send(to_, piece_.data() + begin_, end_ - begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    begin_ += static_cast<size_t>(count);
    return true;
  }

 private:
  void Finish() {
    ::shutdown(to_, SHUT_WR);
    over_ = true;
  }
  int from_;
  int to_;
  std::vector<char> piece_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool source_ended_ = false;
  bool over_ = false;
};

short EventsFor(bool read, bool write) {
  return static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0));
}

}  // namespace

std::optional<Destination> ParseDestination(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') != host.ends_with(']')) return std::nullopt;
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool whole = code == std::errc() && end == digits.data() + digits.size();
  if (host.empty() || !whole || port == 0) return std::nullopt;
  return Destination{LowerCase(host), port};
}

bool IsElsewhere(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return IsElsewhereV4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six) || IN6_IS_ADDR_V4COMPAT(&six)) {
    uint32_t four;
    std::memcpy(&four, six.s6_addr + 12, sizeof four);
    return IsElsewhereV4(ntohl(four));
  }
  return !IN6_IS_ADDR_LOOPBACK(&six) && !IN6_IS_ADDR_UNSPECIFIED(&six) &&
         !IN6_IS_ADDR_LINKLOCAL(&six) && !IN6_IS_ADDR_MULTICAST(&six);
}

void Relay(Socket& client, std::string_view from_client, Socket& server,
           std::string_view from_server, std::chrono::seconds idle, int stop) {
  Pipe up(client.get(), server.get(), from_client);
  Pipe down(server.get(), client.get(), from_server);
  const int wait =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(idle).count());
  while (!(up.over() && down.over())) {
    pollfd ends[] = {{client.get(), EventsFor(up.wants_read(), down.wants_write()), 0},
                     {server.get(), EventsFor(down.wants_read(), up.wants_write()), 0},
                     {stop, POLLIN, 0}};
    for (pollfd& end : ends) {
      if (end.events == 0) end.fd = -1;  // else a half-closed end would wake us for ever
    }
    const int ready = ::poll(ends, 3, wait > 0 ? wait : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || ends[2].revents != 0) return;
    bool good = true;
    if (up.wants_read() && ends[0].revents != 0) good = up.Read();
    if (good && down.wants_read() && ends[1].revents != 0) good = down.Read();
    if (good && up.wants_write()) good = up.Write();
    if (good && down.wants_write()) good = down.Write();
    if (!good) return;
  }
}

}  // namespace caip::http
