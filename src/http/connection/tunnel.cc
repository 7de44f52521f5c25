#include "http/connection/tunnel.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/text.h"
#include "http/errors.h"
#include "http/transport/endpoint.h"

namespace caip::http {
namespace {

constexpr size_t kRelayPieceBytes = 64 << 10;
constexpr uint16_t kDiscardPort = 9;

bool IsOtherMachineV4(uint32_t address) {  // in host byte order
  const uint32_t first = address >> 24;
  const bool link_local = address >> 16 == (169u << 8 | 254u);
  return first != 0 && first != 127 && first < 224 && !link_local;
}

// In IPv6 form. nullopt: another family.
std::optional<in6_addr> PlainAddress(const sockaddr& address) {
  in6_addr plain{};
  if (address.sa_family == AF_INET6) {
    plain = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool holds_four = IN6_IS_ADDR_V4COMPAT(&plain) != 0;  // "::127.0.0.1"
    if (!holds_four) return plain;
  } else if (address.sa_family == AF_INET) {
    const in_addr& four = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    std::memcpy(plain.s6_addr + 12, &four, sizeof four);
  } else {
    return std::nullopt;
  }
  plain.s6_addr[10] = plain.s6_addr[11] = 0xff;
  return plain;
}

// Whether a network interface of this machine has the address. True if that cannot be found out.
bool IsOfAnInterface(const in6_addr& address) {
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return true;
  bool found = false;
  for (const ifaddrs* at = interfaces; at != nullptr && !found; at = at->ifa_next) {
    const auto own = at->ifa_addr ? PlainAddress(*at->ifa_addr) : std::nullopt;
    found = own && IN6_ARE_ADDR_EQUAL(&*own, &address);
  }
  ::freeifaddrs(interfaces);
  return found;
}

// Whether the kernel delivers packets for the address to this machine. Interfaces need not have
// such an address: `ip route add local`. Sends nothing. True if that cannot be found out.
bool IsRoutedHere(const in6_addr& address) {
  const bool is_four = IN6_IS_ADDR_V4MAPPED(&address);
  const Fd probe(::socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage there{};
  there.ss_family = is_four ? AF_INET : AF_INET6;
  if (is_four) {
    auto& four = reinterpret_cast<sockaddr_in&>(there);
    four.sin_port = htons(kDiscardPort);
    std::memcpy(&four.sin_addr, address.s6_addr + 12, sizeof four.sin_addr);
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(there);
    six.sin6_port = htons(kDiscardPort);
    six.sin6_addr = address;
  }
  auto* const generic = reinterpret_cast<sockaddr*>(&there);
  socklen_t size = is_four ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (!probe.valid()) return errno != EAFNOSUPPORT;
  if (::connect(probe.get(), generic, size) != 0) return false;  // there is no way to it
  if (::getsockname(probe.get(), generic, &size) != 0) return true;
  const auto own = PlainAddress(*generic);
  const bool from_loopback = own && (IN6_IS_ADDR_LOOPBACK(&*own) ||
                                     (IN6_IS_ADDR_V4MAPPED(&*own) && own->s6_addr[12] == 127));
  return !own || from_loopback || IN6_ARE_ADDR_EQUAL(&*own, &address);
}

// Forwards one direction of a tunnel. Bytes [begin, end) of the piece are received but not sent
// yet.
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

  // False if the connection failed.
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

constexpr size_t kReplyBytesMax = 64 << 10;

std::string FormatAuthority(const Destination& to) {
  const bool six = to.host.find(':') != std::string::npos;
  return (six ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port);
}

// True if the response begins like "HTTP/1.1 200 Connection established".
bool IsSuccess(std::string_view head) {
  return head.starts_with("HTTP/1.") && head.size() > 9 && head[9] == '2';
}

Result<Socket> ConnectThrough(const ProxyAddress& proxy, const Destination& to,
                              std::chrono::milliseconds limit, std::string& already) {
  const std::string place = proxy.host + ":" + proxy.port;
  ASSIGN_OR_RETURN(Socket socket, ConnectTo(proxy.host, proxy.port, limit));
  std::string ask =
      "CONNECT " + FormatAuthority(to) + " HTTP/1.1\r\nHost: " + FormatAuthority(to) + "\r\n";
  if (!proxy.authorization.empty()) ask += "Proxy-Authorization: " + proxy.authorization + "\r\n";
  socket.SetDeadline(MonotonicNow() + limit);
  if (socket.Send(ask + "\r\n") != Flow::kData)
    return errors::CannotReach(place, "the proxy closed the connection");
  std::string reply;
  size_t end;
  while ((end = reply.find("\r\n\r\n")) == std::string::npos && reply.size() < kReplyBytesMax) {
    char buffer[4096];
    const Received received = socket.Receive(buffer, sizeof buffer);
    if (received.flow != Flow::kData) {
      return errors::CannotReach(place, "the proxy did not answer CONNECT");
    }
    reply.append(buffer, received.count);
  }
  if (end == std::string::npos || !IsSuccess(reply)) {
    const std::string line = reply.substr(0, reply.find('\r'));
    return errors::CannotReach(FormatAuthority(to), "the proxy " + place + " answered: " + line);
  }
  already = reply.substr(end + 4);
  socket.SetDeadline(std::nullopt);
  return socket;
}

// Whether the text can be a name or an IPv4 address or, in brackets, an IPv6 address, which may
// name its link after a percent sign.
bool IsHost(std::string_view text, bool in_brackets) {
  constexpr std::string_view kSigns = "[]/?#@\\";
  const bool has_host_characters = std::ranges::all_of(text, [&](char c) {
    return c > ' ' && c < 0x7f && kSigns.find(c) == std::string_view::npos;
  });
  if (!has_host_characters || text.empty()) return false;
  if (!in_brackets) return text.find(':') == std::string_view::npos;
  in6_addr address;
  return ::inet_pton(AF_INET6, std::string(text.substr(0, text.find('%'))).c_str(), &address) == 1;
}

}  // namespace

std::optional<Destination> ParseDestination(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool in_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (!IsHost(host, in_brackets)) return std::nullopt;
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool whole = code == std::errc() && end == digits.data() + digits.size();
  if (!whole || port == 0) return std::nullopt;
  return Destination{LowerCase(host), port};
}

bool IsOtherMachine(const sockaddr& address) {
  const auto plain = PlainAddress(address);
  if (!plain) return false;
  if (IN6_IS_ADDR_V4MAPPED(&*plain)) {
    uint32_t four;
    std::memcpy(&four, plain->s6_addr + 12, sizeof four);
    if (!IsOtherMachineV4(ntohl(four))) return false;
  } else if (IN6_IS_ADDR_LOOPBACK(&*plain) || IN6_IS_ADDR_UNSPECIFIED(&*plain) ||
             IN6_IS_ADDR_LINKLOCAL(&*plain) || IN6_IS_ADDR_MULTICAST(&*plain)) {
    return false;
  }
  return !IsOfAnInterface(*plain) && !IsRoutedHere(*plain);
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
      if (end.events == 0) end.fd = -1;  // poll would return at once for a half-closed end
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

std::optional<ProxyAddress> ParseProxyAddress(std::string_view url) {
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    if (LowerCase(url.substr(0, scheme)) != "http") return std::nullopt;
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find('/'));
  ProxyAddress proxy;
  if (const size_t at = url.rfind('@'); at != std::string_view::npos) {
    const auto user = PercentDecoded(url.substr(0, at));
    if (user) proxy.authorization = "Basic " + Base64(*user);
    url.remove_prefix(at + 1);
  }
  const std::string with_port =
      url.rfind(':') == std::string_view::npos ? std::string(url) + ":80" : std::string(url);
  const auto place = ParseDestination(with_port);
  if (!place) return std::nullopt;
  proxy.host = place->host;
  proxy.port = std::to_string(place->port);
  return proxy;
}

bool IsProxyExempt(std::string_view host, std::string_view no_proxy) {
  const std::string name = LowerCase(host);
  for (const std::string& item : Split(LowerCase(no_proxy), ',')) {
    std::string_view pattern = Trim(item);
    if (pattern == "*") return true;
    while (pattern.starts_with('.') || pattern.starts_with('*')) pattern.remove_prefix(1);
    if (pattern.empty()) continue;
    if (name == pattern || name.ends_with("." + std::string(pattern))) return true;
  }
  return false;
}

bool NamesThisMachine(const std::string& host) {
  std::string name = LowerCase(host);
  while (name.ends_with('.')) name.pop_back();
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  const bool here = !IsOtherMachine(*found->ai_addr);
  ::freeaddrinfo(found);
  return here;
}

Result<Socket> ConnectToDestination(const RelayOptions& options, const Destination& to,
                                    std::chrono::milliseconds limit, std::string& already) {
  if (!options.to_this_machine && NamesThisMachine(to.host)) {
    return errors::AddressForbidden(to.host);
  }
  const auto proxy = ParseProxyAddress(options.upstream);
  if (!options.upstream.empty() && !IsProxyExempt(to.host, options.upstream_exempt)) {
    if (!proxy) return errors::BaseInvalid(options.upstream);
    return ConnectThrough(*proxy, to, limit, already);
  }
  std::function<bool(const sockaddr&)> allowed = IsOtherMachine;
  if (options.to_this_machine) allowed = nullptr;
  return ConnectTo(to.host, std::to_string(to.port), limit, allowed);
}

}  // namespace caip::http
