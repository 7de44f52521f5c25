#pragma once
// A connected, blocking TCP socket, plain or TLS, with a limit on silence. The server and the
// client use it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"

using SSL_CTX = struct ssl_ctx_st;

namespace caip::http {

class TlsSession;

/// The result of a read or write.
enum class Flow { kData, kEnd, kSilent, kBroken };

struct Received {
  Flow flow;
  size_t count = 0;
};

/// The time by which reading must end, even if bytes keep arriving. nullopt: no limit.
using Deadline = std::optional<MonotonicTime>;

/// A connected socket. Used by one thread; only ShutdownSocket() may be called from another.
class Socket {
 public:
  Socket();
  explicit Socket(Fd fd);
  ~Socket();
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  bool valid() const { return fd_.valid(); }
  int get() const { return fd_.get(); }

  /// Starts TLS as the server. `already` holds bytes of the handshake that were received before.
  Flow AcceptTls(SSL_CTX* context, std::string already = {});
  /// The TLS session; nullptr before TLS.
  const TlsSession* tls() const { return tls_.get(); }
  /// Starts TLS as the client. The peer must be `host`; otherwise `why` gets the reason.
  Flow ConnectTls(SSL_CTX* context, const std::string& host, std::string& why);
  bool secure() const { return tls_ != nullptr; }

  /// 0 waits forever.
  void SetSilenceLimit(std::chrono::milliseconds limit);
  void SetDeadline(const Deadline& deadline);
  Received Receive(char* buffer, size_t size);
  /// Takes bytes that have come, without waiting. kSilent: none.
  Received ReceiveNow(char* buffer, size_t size);
  /// True if ReceiveNow() may return bytes although the descriptor is not readable.
  bool HasPending() const;
  /// How many bytes Receive has taken so far, without TLS.
  uint64_t taken() const { return taken_; }
  /// Waits for the next byte without consuming it. Only before TLS.
  Received Peek(char& byte);
  /// Sends `first`, then `second`.
  Flow Send(std::string_view first, std::string_view second = {});
  /// Sends `head` and then a part of a file. kEnd: the file is shorter than that.
  Flow SendFile(std::string_view head, int descriptor, uint64_t offset, uint64_t length);
  /// True if the peer has closed the connection or sent unexpected bytes: it must not be reused.
  bool IsStale() const;
  void ShutdownWrites();
  /// Makes Close() reset the connection and discard unsent bytes.
  void ResetOnClose();
  bool resets_on_close() const { return resets_on_close_; }
  void Close();

 private:
  Fd fd_;
  std::unique_ptr<TlsSession> tls_;  // uses fd_
  Deadline deadline_;
  uint64_t taken_ = 0;
  bool resets_on_close_ = false;
};

/// How many bytes have come to a TCP socket, taken from it or not. nullopt: the kernel does not
/// say.
std::optional<uint64_t> BytesThatCame(int fd);

/// Ends both directions of a descriptor. Wakes a thread that is blocked on it.
void ShutdownSocket(int fd);

// Reads and writes on a connected, blocking TCP descriptor, for Socket and TlsSession. Private to
// src/http.

/// Takes what has come. kSilent: nothing.
Received ReceiveNowOn(int fd, char* buffer, size_t size);
/// kSilent: after the descriptor's limit on silence, or after the deadline.
Received ReceiveOn(int fd, char* buffer, size_t size, const Deadline& deadline);
/// Sends `first`, then `second`. Never raises SIGPIPE.
Flow SendOn(int fd, std::string_view first, std::string_view second = {});
/// Sends `head` and a part of a file without copying it.
Flow SendFileOn(int fd, std::string_view head, int file, uint64_t offset, uint64_t length);

}  // namespace caip::http
