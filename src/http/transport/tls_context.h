#pragma once
// The TLS settings that all connections of a server, or of a client, share. Private to src/http.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/transport/certificate_provider.h"

using SSL_CTX = struct ssl_ctx_st;

namespace caip::http {

struct ContextDeleter {
  void operator()(SSL_CTX* context) const;
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

/// The server's side: TLS 1.2 and 1.3, http/1.1. Immutable once made; any thread.
class TlsServerContext {
 public:
  /// `served` decides whether a name gets its own certificate; other names get the default one.
  static Result<std::unique_ptr<TlsServerContext>> Make(
      std::shared_ptr<CertificateProvider> certificates,
      std::function<bool(const std::string&)> served);
  SSL_CTX* get() const { return context_.get(); }

  /// For OpenSSL's callback: the certificate for a client that asks for `server_name`.
  Result<ServerCertificate> CertificateFor(const std::string& server_name) const;

 private:
  TlsServerContext() = default;
  ContextPtr context_;
  std::shared_ptr<CertificateProvider> certificates_;
  std::function<bool(const std::string&)> served_;
};

/// The client's side: trusts the authorities of one PEM file.
Result<ContextPtr> MakeTlsClientContext(const std::string& trust_file);

/// The text of OpenSSL's oldest error in this thread. Clears all errors.
std::string TlsErrorText();

}  // namespace caip::http
