#include "http/transport/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "http/transport/socket_io.h"
#include "http/transport/tls_session.h"

namespace caip::http {
namespace {

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
  return tls_ ? tls_->Receive(buffer, size) : ReceiveOn(fd_.get(), buffer, size, deadline_);
}

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

void ShutdownSocket(int fd) { ::shutdown(fd, SHUT_RDWR); }

}  // namespace caip::http
