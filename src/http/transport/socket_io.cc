#include "http/transport/socket_io.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace caip::http {
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
