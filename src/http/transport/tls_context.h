#pragma once
// What all TLS connections of a server, or of a client, have in common. Private to src/http.

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
  /// `served` tells whether a name may have a certificate of its own; others get the default one.
  static Result<std::unique_ptr<TlsServerContext>> Make(
      std::shared_ptr<CertificateProvider> certificates,
      std::function<bool(const std::string&)> served);
  SSL_CTX* get() const { return context_.get(); }

  /// For OpenSSL's callback: what a client that asks for `server_name` is shown.
  Result<ServerCertificate> CertificateFor(const std::string& server_name) const;

 private:
  TlsServerContext() = default;
  ContextPtr context_;
  std::shared_ptr<CertificateProvider> certificates_;
  std::function<bool(const std::string&)> served_;
};

/// The client's side: trusts the authorities of one PEM file.
Result<ContextPtr> MakeTlsClientContext(const std::string& trust_file);

/// OpenSSL's oldest complaint of this thread, in words; none are left.
std::string TlsWords();

}  // namespace caip::http
