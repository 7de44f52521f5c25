#include "http/transport/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "http/errors.h"
#include "http/transport/certificate_authority.h"
#include "http/transport/socket.h"

namespace caip::http {
namespace {

constexpr unsigned char kHttp11[] = "\x08http/1.1";  // in the format of ALPN
// In the server's order: clients that speak both use HTTP/1.1, and gRPC's clients offer only h2.
constexpr unsigned char kServedProtocols[] = "\x08http/1.1\x02h2";
constexpr unsigned char kSessionContext[] = "caip";

// A client that offers protocols must offer one of ours.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  if (::SSL_select_next_proto(&found, size, kServedProtocols, sizeof kServedProtocols - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED) {
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

namespace {

// The alerts of clients that do not trust a certificate (RFC 8446, section 6.2). OpenSSL, BoringSSL
// and GnuTLS send the first, Go the second, Java the third.
const char* NameOfRejection(unsigned long error) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "unknown_ca";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      return "bad_certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "certificate_unknown";
    default:
      return "";
  }
}

}  // namespace

SSL_CTX* TlsServerContext::get() {
  std::call_once(once_, [this] {
    context_.reset(::SSL_CTX_new(::TLS_server_method()));
    SSL_CTX* context = context_.get();
    if (context == nullptr) return;
    ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // HTTP has its own lengths, so a client that closes without an alert loses nothing.
    ::SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION);
    ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);          // idle connections cost little
    ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets need no memory here
    ::SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
    ::SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
    ::SSL_CTX_set_cert_cb(context, SelectCertificate, this);
  });
  return context_.get();
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

// This file has its own BIO: OpenSSL's socket BIO raises SIGPIPE, has no deadline, and cannot start
// with bytes that were received before.

namespace {

constexpr size_t kFlushBytes = 256 << 10;  // sends records together
constexpr size_t kRecordBytes = 16 << 10;

}  // namespace

// The data of the BIO.
struct TlsSession::Wire {
  int fd;
  std::string already;
  size_t already_used = 0;
  std::string out = {};
  Deadline deadline = {};
  bool at_once = false;  // reads only bytes that have arrived
  Flow flow = Flow::kData;

  int Read(char* buffer, size_t size) {
    if (already_used < already.size()) {
      const size_t count = already.copy(buffer, size, already_used);
      already_used += count;
      if (already_used == already.size()) already = {}, already_used = 0;
      return static_cast<int>(count);
    }
    if (!Flush()) return -1;
    const Received received =
        at_once ? ReceiveNowOn(fd, buffer, size) : ReceiveOn(fd, buffer, size, deadline);
    flow = received.flow;
    if (flow == Flow::kEnd) return 0;
    return flow == Flow::kData ? static_cast<int>(received.count) : -1;
  }

  int Write(const char* bytes, size_t size) {
    out.append(bytes, size);
    if (out.size() >= kFlushBytes && !Flush()) return -1;
    return static_cast<int>(size);
  }

  bool Flush() {
    if (out.empty()) return true;
    flow = SendOn(fd, out);
    out.clear();
    if (out.capacity() > 2 * kRecordBytes) out.shrink_to_fit();
    return flow == Flow::kData;
  }

  static Wire& Of(BIO* bio) { return *static_cast<Wire*>(::BIO_get_data(bio)); }

  static BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
      ::BIO_meth_set_read(made, [](BIO* bio, char* buffer, int size) {
        ::BIO_clear_retry_flags(bio);
        const int count = Of(bio).Read(buffer, static_cast<size_t>(size));
        if (count < 0 && Of(bio).flow == Flow::kSilent) ::BIO_set_retry_read(bio);
        return count;
      });
      ::BIO_meth_set_write(made, [](BIO* bio, const char* bytes, int size) {
        ::BIO_clear_retry_flags(bio);
        return Of(bio).Write(bytes, static_cast<size_t>(size));
      });
      ::BIO_meth_set_ctrl(made, [](BIO* bio, int command, long, void*) -> long {
        if (command == BIO_CTRL_FLUSH) return Of(bio).Flush() ? 1 : -1;
        if (command == BIO_CTRL_EOF) return Of(bio).flow == Flow::kEnd ? 1 : 0;
        return 0;
      });
      return made;
    }();
    return method;
  }
};

TlsSession::TlsSession(SSL_CTX* context, int fd, std::string already)
    : wire_(new Wire{fd, std::move(already)}), ssl_(::SSL_new(context)) {
  BIO* bio = ::BIO_new(Wire::Method());
  ::BIO_set_data(bio, wire_.get());
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl_, bio, bio);
}

TlsSession::~TlsSession() { ::SSL_free(ssl_); }

void TlsSession::SetDeadline(const Deadline& deadline) { wire_->deadline = deadline; }

Flow TlsSession::FlowOfFailure(int result) {
  switch (::SSL_get_error(ssl_, result)) {
    case SSL_ERROR_ZERO_RETURN:
      return Flow::kEnd;
    case SSL_ERROR_WANT_READ:
      return Flow::kSilent;
    default:
      rejection_ = NameOfRejection(::ERR_peek_error());
      failure_ = TlsErrorText();
      return wire_->flow == Flow::kData ? Flow::kBroken : wire_->flow;
  }
}

Flow TlsSession::Handshake(int (*step)(ssl_st*)) {
  ::ERR_clear_error();
  const int result = step(ssl_);
  const Flow flow = result == 1 ? Flow::kData : FlowOfFailure(result);
  const Flow before = wire_->flow;
  const bool flushed = wire_->Flush();  // also sends the alert about a failure
  if (flow == Flow::kData) return flushed ? flow : wire_->flow;
  wire_->flow = before;
  return flow;
}

std::string TlsSession::server_name() const {
  const char* name = ::SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? name : "";
}

Flow TlsSession::Accept() { return Handshake(::SSL_accept); }

Flow TlsSession::Connect(const std::string& host) {
  in6_addr address;
  const bool literal = ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
  if (literal) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl_), host.c_str());
  } else {
    ::SSL_set1_host(ssl_, host.c_str());
    SSL_set_tlsext_host_name(ssl_, host.c_str());
  }
  const Flow flow = Handshake(::SSL_connect);
  const long verdict = ::SSL_get_verify_result(ssl_);
  if (flow != Flow::kData && verdict != X509_V_OK) {
    failure_ = ::X509_verify_cert_error_string(verdict);
  }
  return flow;
}

Received TlsSession::Receive(char* buffer, size_t size) {
  ::ERR_clear_error();
  size_t count = 0;
  const int result = ::SSL_read_ex(ssl_, buffer, size, &count);
  if (result == 1) return {Flow::kData, count};
  return {FlowOfFailure(result)};
}

Received TlsSession::ReceiveNow(char* buffer, size_t size) {
  wire_->at_once = true;
  const Received received = Receive(buffer, size);
  wire_->at_once = false;
  return received;
}

bool TlsSession::HasPending() const { return ::SSL_pending(ssl_) > 0; }

bool TlsSession::is_http2() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  ::SSL_get0_alpn_selected(ssl_, &name, &size);
  return size == 2 && std::equal(name, name + size, "h2");
}

Flow TlsSession::Write(std::string_view bytes) {
  ::ERR_clear_error();
  size_t count = 0;
  if (bytes.empty()) return Flow::kData;
  const int result = ::SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count);
  return result == 1 ? Flow::kData : FlowOfFailure(result);
}

Flow TlsSession::Send(std::string_view first, std::string_view second) {
  Flow flow;
  if (first.size() + second.size() <= kRecordBytes) {
    flow = Write(std::string(first).append(second));  // one record
  } else {
    flow = Write(first);
    if (flow == Flow::kData) flow = Write(second);
  }
  if (flow == Flow::kData && !wire_->Flush()) return wire_->flow;
  return flow;
}

bool TlsSession::IsStale() {
  char byte;
  size_t count = 0;
  ::ERR_clear_error();
  wire_->at_once = true;
  const int result = ::SSL_peek_ex(ssl_, &byte, 1, &count);
  wire_->at_once = false;
  const bool quiet = result != 1 && ::SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ;
  ::ERR_clear_error();
  return !quiet;
}

void TlsSession::ShutdownWrites() {
  ::ERR_clear_error();
  ::SSL_shutdown(ssl_);
  wire_->Flush();
  ::ERR_clear_error();
}

}  // namespace caip::http
