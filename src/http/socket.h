#pragma once
// A connected, blocking TCP socket with a limit on silence. Server and client stand on it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"

namespace caip::http {

/// What became of a read or write.
enum class Flow { kData, kEnd, kSilent, kBroken };

struct Received {
  Flow flow;
  size_t count = 0;
};

/// One owner, one thread; only Shutdown() may come from another.
class Socket {
 public:
  Socket() = default;
  explicit Socket(Fd fd);
  bool valid() const { return fd_.valid(); }
  int get() const { return fd_.get(); }
  /// 0 waits for ever.
  void SetSilenceLimit(std::chrono::milliseconds limit);
  Received Receive(char* buffer, size_t size);
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
  void Close() { fd_.Close(); }

 private:
  Fd fd_;
  bool resets_on_close_ = false;
};

/// Ends both directions of a descriptor that another thread may be blocked on.
void ShutdownSocket(int fd);

/// Connects to host and port; kUnavailable with the resolver's or the system's words.
Result<Socket> ConnectTo(const std::string& host, const std::string& port,
                         std::chrono::milliseconds limit);

/// Listens; `port` 0 picks one, read it back with LocalPort.
Result<Fd> ListenOn(const std::string& address, uint16_t port);
uint16_t LocalPort(int fd);
/// "127.0.0.1:51234" of the other end, "" where it is gone.
std::string PeerOf(int fd);

}  // namespace caip::http
