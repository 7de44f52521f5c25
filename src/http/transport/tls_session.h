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
  /// `already` are bytes of the peer's that were received before anybody knew they were TLS.
  TlsSession(SSL_CTX* context, int fd, std::string already);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  Flow Accept();
  /// Verifies that the peer is `host`, a name or an address.
  Flow Connect(const std::string& host);
  Received Receive(char* buffer, size_t size);
  Flow Send(std::string_view first, std::string_view second);
  /// Whether the peer has ended or sent something; what TLS says to itself does not count.
  bool IsStale();
  /// Tells the peer that no more will come.
  void ShutdownWrites();
  void SetDeadline(const Deadline& deadline);
  /// Why Connect or Accept did not work.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Wire;
  Flow Handshake(int (*step)(SSL*));
  Flow FlowOfFailure(int result);
  Flow Write(std::string_view bytes);

  std::unique_ptr<Wire> wire_;
  SSL* ssl_;
  std::string trouble_;
};

}  // namespace caip::http
