#pragma once
// The TLS settings that all connections of a server, or of a client, share. Private to src/http.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http/transport/socket.h"

using SSL_CTX = struct ssl_ctx_st;
using SSL = struct ssl_st;

namespace caip::http {

// The source of certificates for a TLS listener.

/// A certificate, followed by those that lead to its root, and its private key. All PEM.
struct ServerCertificate {
  std::string chain;
  std::string key;
};

/// Supplies the certificate for the name that a client asks for. Any thread.
class CertificateProvider {
 public:
  virtual ~CertificateProvider() = default;
  /// `server_name` is in lower case; "" if the client names none, or one that is not served.
  virtual Result<ServerCertificate> CertificateFor(const std::string& server_name) = 0;
};

struct ContextDeleter {
  void operator()(SSL_CTX* context) const;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

/// The server's side: TLS 1.2 and 1.3, http/1.1, and h2 for clients that offer nothing else. Any
/// thread.
class TlsServerContext {
 public:
  /// `served` decides whether a name gets its own certificate; other names get the default one.
  TlsServerContext(std::shared_ptr<CertificateProvider> certificates,
                   std::function<bool(const std::string&)> served)
      : certificates_(std::move(certificates)), served_(std::move(served)) {}
  /// Made at the first call, because OpenSSL's start takes as long as a short command, and most
  /// commands use no TLS. nullptr if OpenSSL cannot make one.
  SSL_CTX* get();

  /// For OpenSSL's callback: the certificate for a client that asks for `server_name`.
  Result<ServerCertificate> CertificateFor(const std::string& server_name) const;

 private:
  std::once_flag once_;
  ContextPtr context_;
  std::shared_ptr<CertificateProvider> certificates_;
  std::function<bool(const std::string&)> served_;
};

/// The client's side: trusts the authorities of one PEM file.
Result<ContextPtr> MakeTlsClientContext(const std::string& trust_file);

/// The text of OpenSSL's oldest error in this thread. Clears all errors.
std::string TlsErrorText();

// One TLS connection, on a descriptor that a Socket owns. Private to src/http.

/// A TLS session on a descriptor, which must outlive it. One thread.
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
  /// Takes bytes that have come, without waiting. kSilent: none.
  Received ReceiveNow(char* buffer, size_t size);
  /// True if bytes have come that Receive has not returned yet, outside the descriptor.
  bool HasPending() const;
  Flow Send(std::string_view first, std::string_view second);
  /// True if the peer has closed the connection or sent data. Ignores messages of TLS itself.
  bool IsStale();
  /// Announces the end of sent data to the peer.
  void ShutdownWrites();
  void SetDeadline(const Deadline& deadline);
  /// The reason why Connect or Accept failed.
  const std::string& failure() const { return failure_; }
  /// The alert by which the peer rejected the certificate: "unknown_ca". "": it sent none.
  const std::string& rejection() const { return rejection_; }
  /// The server name that the client asked for; "" none.
  std::string server_name() const;
  /// Whether the two sides agreed on HTTP/2.
  bool is_http2() const;

 private:
  struct Wire;
  Flow Handshake(int (*step)(SSL*));
  Flow FlowOfFailure(int result);
  Flow Write(std::string_view bytes);

  std::unique_ptr<Wire> wire_;
  SSL* ssl_;
  std::string failure_;
  std::string rejection_;
};

}  // namespace caip::http
