#pragma once
// Bytes and descriptors in one message over a Unix socket (man 3 cmsg). Makes only system calls, so
// that a process that shares another's memory until its exec can use it.

#include <sys/socket.h>

#include <cstddef>
#include <cstring>

namespace caip::host::launcher {

inline constexpr size_t kDescriptorsMax = 4;

/// Sends `size` bytes and the descriptors that are >= 0. Returns the result of sendmsg. Never
/// raises SIGPIPE.
template <size_t kCount>
ssize_t SendWithDescriptors(int socket, const void* bytes, size_t size, const int (&fds)[kCount]) {
  static_assert(kCount <= kDescriptorsMax);
  size_t count = 0;
  while (count < kCount && fds[count] >= 0) ++count;
  iovec piece{const_cast<void*>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * count);
    std::memcpy(CMSG_DATA(part), fds, sizeof(int) * count);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

/// Receives up to `size` bytes, and descriptors that close on exec. Missing descriptors are -1.
/// Returns the result of recvmsg.
template <size_t kCount>
ssize_t ReceiveWithDescriptors(int socket, void* bytes, size_t size, int (&fds)[kCount]) {
  static_assert(kCount <= kDescriptorsMax);
  for (int& fd : fds) fd = -1;
  iovec piece{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t length = part->cmsg_len - CMSG_LEN(0);
    std::memcpy(fds, CMSG_DATA(part), length < sizeof fds ? length : sizeof fds);
  }
  return received;
}

}  // namespace caip::host::launcher
