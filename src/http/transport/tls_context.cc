#include "http/transport/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/text.h"
#include "http/errors.h"
#include "http/transport/x509.h"

namespace caip::http {
namespace {

constexpr unsigned char kHttp11[] = "\x08http/1.1";  // in the format of ALPN
constexpr unsigned char kSessionContext[] = "caip";

// A client that offers protocols must offer http/1.1.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  if (::SSL_select_next_proto(&found, size, kHttp11, sizeof kHttp11 - 1, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL calls this in every handshake, after it has read the requested name.
int SelectCertificate(SSL* ssl, void* context) {
  const char* name = ::SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const auto selected =
      static_cast<const TlsServerContext*>(context)->CertificateFor(name != nullptr ? name : "");
  if (!selected.ok()) return 0;
  const CertificatePtr certificate = ReadCertificate(selected->chain);
  const KeyPtr key = ReadKey(selected->key);
  return certificate && key && ::SSL_use_certificate(ssl, certificate.get()) == 1 &&
         ::SSL_use_PrivateKey(ssl, key.get()) == 1;
}

}  // namespace

void ContextDeleter::operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }

std::string TlsErrorText() {
  const unsigned long error = ::ERR_get_error();
  ::ERR_clear_error();
  const char* reason = error != 0 ? ::ERR_reason_error_string(error) : nullptr;
  return reason != nullptr ? reason : "the connection was closed";
}

Result<std::unique_ptr<TlsServerContext>> TlsServerContext::Make(
    std::shared_ptr<CertificateProvider> certificates,
    std::function<bool(const std::string&)> served) {
  std::unique_ptr<TlsServerContext> made(new TlsServerContext);
  made->context_.reset(::SSL_CTX_new(::TLS_server_method()));
  SSL_CTX* context = made->context_.get();
  if (context == nullptr) return errors::NoTls(TlsErrorText());
  made->certificates_ = std::move(certificates);
  made->served_ = std::move(served);
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // HTTP has its own lengths, so a client that closes without an alert loses nothing.
  ::SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);          // idle connections cost little
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets need no memory here
  ::SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  ::SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  ::SSL_CTX_set_cert_cb(context, SelectCertificate, made.get());
  return made;
}

Result<ServerCertificate> TlsServerContext::CertificateFor(const std::string& server_name) const {
  const std::string name = LowerCase(server_name);
  return certificates_->CertificateFor(served_(name) ? name : "");
}

Result<ContextPtr> MakeTlsClientContext(const std::string& trust_file) {
  ContextPtr context(::SSL_CTX_new(::TLS_client_method()));
  if (!context) return errors::NoTls(TlsErrorText());
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_alpn_protos(context.get(), kHttp11, sizeof kHttp11 - 1);
  if (::SSL_CTX_load_verify_locations(context.get(), trust_file.c_str(), nullptr) != 1) {
    ::ERR_clear_error();
    return errors::TrustUnreadable(trust_file);
  }
  return context;
}

}  // namespace caip::http
