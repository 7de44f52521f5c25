#pragma once
// A connected, blocking TCP socket with a limit on silence, plain or TLS. Server and client stand
// on it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

using SSL_CTX = struct ssl_ctx_st;

namespace caip::http {

class TlsSession;

/// What became of a read or write.
enum class Flow { kData, kEnd, kSilent, kBroken };

struct Received {
  Flow flow;
  size_t count = 0;
};

/// When reading must be over, however busy the peer is. nullopt: no such limit.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// One owner, one thread; only ShutdownSocket() may come from another.
class Socket {
 public:
  Socket();
  explicit Socket(Fd fd);
  ~Socket();
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  bool valid() const { return fd_.valid(); }
  int get() const { return fd_.get(); }

  /// Becomes the server's end of TLS. `already`: bytes of it that were received before.
  Flow AcceptTls(SSL_CTX* context, std::string already = {});
  /// Becomes the client's end; `host` is who the peer must be. `why` gets the reason if it is not.
  Flow ConnectTls(SSL_CTX* context, const std::string& host, std::string& why);
  bool secure() const { return tls_ != nullptr; }

  /// 0 waits for ever.
  void SetSilenceLimit(std::chrono::milliseconds limit);
  void SetDeadline(const Deadline& deadline);
  Received Receive(char* buffer, size_t size);
  /// Waits for the next byte without taking it. Before TLS only.
  Received Peek(char& byte);
  /// Sends both, one behind the other, or says why not.
  Flow Send(std::string_view first, std::string_view second = {});
  /// Sends `head` and then a part of a file. kEnd: the file is shorter than that.
  Flow SendFile(std::string_view head, int descriptor, uint64_t offset, uint64_t length);
  /// True when the peer has closed or sent something unasked: not to be used again.
  bool IsStale() const;
  void ShutdownWrites();
  /// The peer will see a reset instead of an end, without our last words.
  void ResetOnClose();
  bool resets_on_close() const { return resets_on_close_; }
  void Close();

 private:
  Fd fd_;
  std::unique_ptr<TlsSession> tls_;  // uses fd_
  Deadline deadline_;
  bool resets_on_close_ = false;
};

/// Ends both directions of a descriptor that another thread may be blocked on.
void ShutdownSocket(int fd);

}  // namespace caip::http
