#include "http/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "http/errors.h"

namespace caip::http {
namespace {

constexpr int kBacklog = 512;
constexpr uint64_t kSendFilePiece = 1 << 30;  // the system call's own limit is 2 GiB

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// nullptr with `error` set to getaddrinfo's code when the name cannot be had.
Addresses Resolve(const std::string& host, const std::string& port, int flags, int* error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  *error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  return Addresses(*error == 0 ? found : nullptr, &::freeaddrinfo);
}

Flow FlowOf(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK ? Flow::kSilent : Flow::kBroken;
}

// errno of the attempt; 0 when connected.
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

// sendfile knows no MSG_NOSIGNAL: the signal is held back in this thread, and taken away if it
// came.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    if (broken_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  void Came() { broken_ = true; }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool broken_ = false;
};

}  // namespace

Socket::Socket(Fd fd) : fd_(std::move(fd)) {
  const int on = 1;
  ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Socket::SetSilenceLimit(std::chrono::milliseconds limit) {
  timeval time{};
  time.tv_sec = limit.count() / 1000;
  time.tv_usec = limit.count() % 1000 * 1000;
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

Received Socket::Receive(char* buffer, size_t size) {
  while (true) {
    const ssize_t count = ::recv(fd_.get(), buffer, size, 0);
    if (count > 0) return {Flow::kData, static_cast<size_t>(count)};
    if (count == 0) return {Flow::kEnd};
    if (errno != EINTR) return {FlowOf(errno)};
  }
}

Flow Socket::Send(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = first.empty() ? parts + 1 : parts;
    message.msg_iovlen = first.empty() || second.empty() ? 1 : 2;
    const ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FlowOf(errno);
    size_t sent = static_cast<size_t>(count);
    const size_t of_first = std::min(sent, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(sent - of_first);
  }
  return Flow::kData;
}

Flow Socket::SendFile(std::string_view head, int descriptor, uint64_t offset, uint64_t length) {
  while (!head.empty()) {
    const ssize_t count = ::send(fd_.get(), head.data(), head.size(), MSG_NOSIGNAL | MSG_MORE);
    if (count < 0 && errno != EINTR) return FlowOf(errno);
    if (count > 0) head.remove_prefix(static_cast<size_t>(count));
  }
  NoPipeSignal signal;
  auto position = static_cast<off_t>(offset);
  while (length > 0) {
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(length, kSendFilePiece));
    const ssize_t count = ::sendfile(fd_.get(), descriptor, &position, piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      if (error == EPIPE) signal.Came();
      return FlowOf(error);
    }
    if (count == 0) return Flow::kEnd;
    length -= static_cast<uint64_t>(count);
  }
  return Flow::kData;
}

bool Socket::IsStale() const {
  char byte;
  const ssize_t count = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void Socket::ShutdownWrites() { ::shutdown(fd_.get(), SHUT_WR); }

void Socket::ResetOnClose() {
  const struct linger at_once = {1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  resets_on_close_ = true;
}

void ShutdownSocket(int fd) { ::shutdown(fd, SHUT_RDWR); }

Result<Socket> ConnectTo(const std::string& host, const std::string& port,
                         std::chrono::milliseconds limit) {
  const std::string place = host + ":" + port;
  int error = 0;
  const Addresses addresses = Resolve(host, port, 0, &error);
  if (!addresses) return errors::CannotReach(place, ::gai_strerror(error));
  int last = ECONNREFUSED;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
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
  return errors::CannotReach(place, std::strerror(last));
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
      ::listen(fd.get(), kBacklog) != 0) {
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

std::string PeerOf(int fd) {
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
