#include "http/transport/endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "http/errors.h"

namespace caip::http {
namespace {

constexpr int kListenBacklog = 512;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// On failure returns nullptr and sets `error` to getaddrinfo's code.
Addresses Resolve(const std::string& host, const std::string& port, int flags, int* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  *error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  return Addresses(*error == 0 ? found : nullptr, &::freeaddrinfo);
}

// Returns 0 if connected, else errno.
int ConnectWithin(int fd, const addrinfo& address, std::chrono::milliseconds limit) {
  if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{fd, POLLOUT, 0};
  const int wait = limit.count() > 0 ? static_cast<int>(limit.count()) : -1;
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, wait);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  return IsDigits(text) && code == std::errc() && port != 0;
}

Result<Socket> ConnectTo(const std::string& host, const std::string& port,
                         std::chrono::milliseconds limit,
                         const std::function<bool(const sockaddr&)>& allowed) {
  const std::string place = host + ":" + port;
  if (!IsPort(port)) return errors::CannotReach(place, "the port is not a number from 1 to 65535");
  int error = 0;
  const Addresses addresses = Resolve(host, port, 0, &error);
  if (!addresses) return errors::CannotReach(place, ::gai_strerror(error));
  std::optional<int> last;  // stays empty when no address is allowed
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    if (allowed && !allowed(*at->ai_addr)) continue;
    Fd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) {
      last = errno;
      continue;
    }
    last = ConnectWithin(fd.get(), *at, limit);
    if (last != 0) continue;
    const int flags = ::fcntl(fd.get(), F_GETFL);
    ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK);
    return Socket(std::move(fd));
  }
  if (!last) return errors::AddressForbidden(host);
  return errors::CannotReach(place, std::strerror(*last));
}

// inet_pton rejects short and octal forms.
bool IsLoopback(const std::string& host) {
  if (LowerCase(host) == "localhost") return true;
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool IsAddress(const std::string& text) {
  int error = 0;
  return text == "localhost" || Resolve(text, "0", AI_PASSIVE | AI_NUMERICHOST, &error) != nullptr;
}

Result<Fd> ListenOn(const std::string& address, uint16_t port) {
  int error = 0;
  const int flags = AI_PASSIVE | (address == "localhost" ? 0 : AI_NUMERICHOST);
  const Addresses addresses = Resolve(address, std::to_string(port), flags, &error);
  if (!addresses) return errors::AddressInvalid(address);
  Fd fd(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return errors::CannotListen(address, port, errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(fd.get(), kListenBacklog) != 0) {
    if (errno == EADDRINUSE) return errors::PortTaken(address, port);
    return errors::CannotListen(address, port, errno);
  }
  return fd;
}

uint16_t LocalPort(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  const in_port_t port = bound.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                             : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return ntohs(port);
}

std::string PeerAddress(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&peer), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  const bool six = peer.ss_family == AF_INET6;
  return (six ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

}  // namespace caip::http
