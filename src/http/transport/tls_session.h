#pragma once
// One TLS connection, on a descriptor that a Socket owns. Private to src/http.

#include <memory>
#include <string>
#include <string_view>

#include "http/transport/socket.h"

using SSL = struct ssl_st;

namespace caip::http {

/// One thread. The descriptor must outlive it.
class TlsSession {
 public:
  /// `already` holds bytes that were received before TLS was detected.
  TlsSession(SSL_CTX* context, int fd, std::string already);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  Flow Accept();
  /// Verifies that the peer is `host`, which is a name or an address.
  Flow Connect(const std::string& host);
  Received Receive(char* buffer, size_t size);
  Flow Send(std::string_view first, std::string_view second);
  /// Whether the peer has closed the connection or sent data. Ignores messages of TLS itself.
  bool IsStale();
  /// Announces the end of sent data to the peer.
  void ShutdownWrites();
  void SetDeadline(const Deadline& deadline);
  /// Why Connect or Accept failed.
  const std::string& failure() const { return failure_; }

 private:
  struct Wire;
  Flow Handshake(int (*step)(SSL*));
  Flow FlowOfFailure(int result);
  Flow Write(std::string_view bytes);

  std::unique_ptr<Wire> wire_;
  SSL* ssl_;
  std::string failure_;
};

}  // namespace caip::http
