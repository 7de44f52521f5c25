#include "host/watch/watched_output.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "host/watch/watched_replicas.h"

namespace caip::host {
namespace {

constexpr size_t kOutputPieceBytes = 1u << 20;  // of a large write, taken at once

}  // namespace

Handled WatchedOutput::Handle(const WatchedCall& call) {
  switch (call.number()) {
    case SYS_write:
    case SYS_writev:
      if (const auto stream = StreamOf(call, 0)) return Write(call, *stream);
      return Handled::kNotMine;
    case SYS_sendfile:
    case SYS_splice:
      if (!StreamOf(call, call.number() == SYS_splice ? 2 : 0)) return Handled::kNotMine;
      call.Fail(EINVAL);  // "not with this descriptor": programs write, then
      return Handled::kAnswered;
    default:
      return Handled::kNotMine;
  }
}

/// By the pipe's identity, so that a dup'ed descriptor counts.
std::optional<host::OutputStream> WatchedOutput::StreamOf(const WatchedCall& call,
                                                          int argument) const {
  const auto file = call.Identify(static_cast<int>(call.argument(argument)));
  if (file && *file == replica_.out) return host::OutputStream::kStdout;
  if (file && *file == replica_.err) return host::OutputStream::kStderr;
  return std::nullopt;
}

Handled WatchedOutput::Write(const WatchedCall& call, host::OutputStream stream) {
  int64_t taken = 0;
  for (const iovec& buffer : call.Buffers()) {
    for (size_t done = 0; done < buffer.iov_len; done += kOutputPieceBytes) {
      const auto piece = call.Read(reinterpret_cast<uint64_t>(buffer.iov_base) + done,
                                   std::min(kOutputPieceBytes, buffer.iov_len - done));
      if (!call.IsWaiting()) return Handled::kAnswered;
      if (!piece && taken == 0) return Handled::kNotMine;  // no memory there: the kernel says so
      if (!piece) return Tell(call, taken);
      taken += static_cast<int64_t>(piece->size());
      output_.Feed(replica_.number, stream, *std::move(piece));
    }
  }
  return taken == 0 ? Handled::kNotMine : Tell(call, taken);
}

Handled WatchedOutput::Tell(const WatchedCall& call, int64_t taken) {
  if (watcher_.OutputSeen(replica_.key) == ReplicaWatcher::Answer::kNever) return Handled::kNever;
  call.Return(taken);
  return Handled::kAnswered;
}

}  // namespace caip::host
