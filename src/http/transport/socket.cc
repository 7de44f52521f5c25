#include "http/transport/socket.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "http/transport/tls.h"

namespace caip::http {
namespace {

// TCP_CLOSE_WAIT of <netinet/tcp.h>, which cannot be included beside <linux/tcp.h>.
constexpr uint8_t kCloseWait = 8;

constexpr uint64_t kFilePieceBytes = 256 << 10;

}  // namespace

Socket::Socket() = default;
Socket::~Socket() = default;
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;

Socket::Socket(Fd fd) : fd_(std::move(fd)) {
  const int on = 1;
  ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Flow Socket::AcceptTls(SSL_CTX* context, std::string already) {
  tls_ = std::make_unique<TlsSession>(context, fd_.get(), std::move(already));
  tls_->SetDeadline(deadline_);
  return tls_->Accept();
}

Flow Socket::ConnectTls(SSL_CTX* context, const std::string& host, std::string& why) {
  tls_ = std::make_unique<TlsSession>(context, fd_.get(), "");
  const Flow flow = tls_->Connect(host);
  why = tls_->failure();
  return flow;
}

void Socket::SetSilenceLimit(std::chrono::milliseconds limit) {
  timeval time{};
  time.tv_sec = limit.count() / 1000;
  time.tv_usec = limit.count() % 1000 * 1000;
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void Socket::SetDeadline(const Deadline& deadline) {
  deadline_ = deadline;
  if (tls_) tls_->SetDeadline(deadline);
}

Received Socket::Receive(char* buffer, size_t size) {
  if (tls_) return tls_->Receive(buffer, size);
  const Received received = ReceiveOn(fd_.get(), buffer, size, deadline_);
  taken_ += received.count;
  return received;
}

Received Socket::ReceiveNow(char* buffer, size_t size) {
  return tls_ ? tls_->ReceiveNow(buffer, size) : ReceiveNowOn(fd_.get(), buffer, size);
}

bool Socket::HasPending() const { return tls_ && tls_->HasPending(); }

Received Socket::Peek(char& byte) {
  while (true) {
    const ssize_t count = ::recv(fd_.get(), &byte, 1, MSG_PEEK);
    if (count > 0) return {Flow::kData, 1};
    if (count == 0) return {Flow::kEnd};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {Flow::kSilent};
    if (errno != EINTR) return {Flow::kBroken};
  }
}

Flow Socket::Send(std::string_view first, std::string_view second) {
  return tls_ ? tls_->Send(first, second) : SendOn(fd_.get(), first, second);
}

Flow Socket::SendFile(std::string_view head, int descriptor, uint64_t offset, uint64_t length) {
  if (!tls_) return SendFileOn(fd_.get(), head, descriptor, offset, length);
  std::vector<char> piece(static_cast<size_t>(std::min(length, kFilePieceBytes)));
  while (length > 0) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(length, piece.size()));
    const ssize_t count = ::pread(descriptor, piece.data(), want, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      Send(head);
      return count == 0 ? Flow::kEnd : Flow::kBroken;
    }
    const Flow flow = Send(std::exchange(head, {}), {piece.data(), static_cast<size_t>(count)});
    if (flow != Flow::kData) return flow;
    offset += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
  }
  return Send(head);
}

bool Socket::IsStale() const {
  if (tls_) return tls_->IsStale();
  char byte;
  const ssize_t count = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void Socket::ShutdownWrites() {
  if (tls_) tls_->ShutdownWrites();
  ::shutdown(fd_.get(), SHUT_WR);
}

void Socket::ResetOnClose() {
  const struct linger at_once = {1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  resets_on_close_ = true;
}

void Socket::Close() {
  tls_.reset();
  fd_.Close();
}

std::optional<uint64_t> BytesThatCame(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
    return std::nullopt;
  }
  const bool has_ended = info.tcpi_state == kCloseWait;  // the end counts as a byte
  return info.tcpi_bytes_received - (has_ended ? 1 : 0);
}

void ShutdownSocket(int fd) { ::shutdown(fd, SHUT_RDWR); }

namespace {

constexpr uint64_t kSendFilePiece = 1 << 30;  // the system call's own limit is 2 GiB

Flow FlowOfError(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK ? Flow::kSilent : Flow::kBroken;
}

bool WaitUntilReadable(int fd, MonotonicTime deadline) {
  using Milliseconds = std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - MonotonicNow());
    if (left.count() <= 0) return false;
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

// sendfile has no MSG_NOSIGNAL. This blocks SIGPIPE in the thread and removes a pending one.
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
  void MarkRaised() { broken_ = true; }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool broken_ = false;
};

}  // namespace

Received ReceiveNowOn(int fd, char* buffer, size_t size) {
  while (true) {
    const ssize_t count = ::recv(fd, buffer, size, MSG_DONTWAIT);
    if (count > 0) return {Flow::kData, static_cast<size_t>(count)};
    if (count == 0) return {Flow::kEnd};
    if (errno != EINTR) return {FlowOfError(errno)};
  }
}

Received ReceiveOn(int fd, char* buffer, size_t size, const Deadline& deadline) {
  while (true) {
    if (deadline && !WaitUntilReadable(fd, *deadline)) return {Flow::kSilent};
    const ssize_t count = ::recv(fd, buffer, size, 0);
    if (count > 0) return {Flow::kData, static_cast<size_t>(count)};
    if (count == 0) return {Flow::kEnd};
    if (errno != EINTR) return {FlowOfError(errno)};
  }
}

Flow SendOn(int fd, std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = first.empty() ? parts + 1 : parts;
    message.msg_iovlen = first.empty() || second.empty() ? 1 : 2;
    const ssize_t count = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FlowOfError(errno);
    size_t sent = static_cast<size_t>(count);
    const size_t of_first = std::min(sent, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(sent - of_first);
  }
  return Flow::kData;
}

Flow SendFileOn(int fd, std::string_view head, int file, uint64_t offset, uint64_t length) {
  // With MSG_MORE and nothing to follow, the kernel would delay the head by a fifth of a second.
  const int more = length > 0 ? MSG_MORE : 0;
  while (!head.empty()) {
    const ssize_t count = ::send(fd, head.data(), head.size(), MSG_NOSIGNAL | more);
    if (count < 0 && errno != EINTR) return FlowOfError(errno);
    if (count > 0) head.remove_prefix(static_cast<size_t>(count));
  }
  NoPipeSignal signal;
  auto position = static_cast<off_t>(offset);
  while (length > 0) {
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(length, kSendFilePiece));
    const ssize_t count = ::sendfile(fd, file, &position, piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      if (error == EPIPE) signal.MarkRaised();
      return FlowOfError(error);
    }
    if (count == 0) return Flow::kEnd;
    length -= static_cast<uint64_t>(count);
  }
  return Flow::kData;
}

}  // namespace caip::http
