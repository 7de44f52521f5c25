#include "conformance/wire/wire.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "conformance/problems.h"

namespace conform {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = net::ssl;
using net::ip::tcp;

constexpr size_t kBodyMax = 64u << 20;

using Request = http::request<http::string_body>;
using Parser = http::response_parser<http::string_body>;

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Only asynchronous operations have deadlines. So each operation is started and awaited.
template <typename Start>
beast::error_code Await(net::io_context& context, Start start) {
  beast::error_code outcome = net::error::would_block;
  start([&outcome](beast::error_code code, auto&&...) { outcome = code; });
  context.restart();
  context.run();
  return outcome;
}

WireResponse Taken(Parser& parser) {
  WireResponse response;
  response.status = parser.get().result_int();
  for (const auto& field : parser.get()) {
    response.headers[Lower(std::string(field.name_string()))] = std::string(field.value());
  }
  response.body = std::move(parser.get().body());
  return response;
}

}  // namespace

struct WireClient::Impl {
  Url base;
  Trust trust;
  std::chrono::milliseconds deadline;
  net::io_context context;
  ssl::context tls{ssl::context::tls_client};
  std::unique_ptr<beast::tcp_stream> plain;
  std::unique_ptr<beast::ssl_stream<beast::tcp_stream>> secure;
  beast::flat_buffer buffer;
  bool gone_before_answer = false;  // the last request failed on a kept connection

  bool open() const { return plain || secure; }
  void Close() {
    plain.reset();
    secure.reset();
    buffer.clear();
  }

  Problem Failed(const char* what, beast::error_code code) {
    Close();
    const std::string where = base.scheme + "://" + base.host + ":" + base.port;
    if (code == beast::error::timeout)
      return problems::AnswerTimeout(where, what, deadline.count());
    if (code == http::error::body_limit) return problems::AnswerTooLong(where, kBodyMax);
    if (code == http::error::end_of_stream) return problems::ConnectionClosed(where, what);
    return problems::WireFailed(where, what, code.message());
  }

  // The transport below TLS, or without TLS.
  beast::tcp_stream& transport() { return secure ? beast::get_lowest_layer(*secure) : *plain; }

  // The certificate must be for the name, or the address, in the URL.
  void ExpectCertificate(SSL* session) const {
    X509_VERIFY_PARAM* wanted = SSL_get0_param(session);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, base.host.c_str()) == 1) return;
    X509_VERIFY_PARAM_set1_host(wanted, base.host.c_str(), 0);
    SSL_set_tlsext_host_name(session, base.host.c_str());
  }

  std::optional<Problem> Handshake() {
    ExpectCertificate(secure->native_handle());
    secure->set_verify_mode(trust.insecure ? ssl::verify_none : ssl::verify_peer);
    int verdict = X509_V_OK;
    secure->set_verify_callback([&verdict](bool fine, ssl::verify_context& chain) {
      if (!fine) verdict = X509_STORE_CTX_get_error(chain.native_handle());
      return fine;
    });
    const auto code = Await(context, [&](auto done) {
      secure->async_handshake(ssl::stream_base::client, std::move(done));
    });
    if (!code) return std::nullopt;
    const Problem problem = Failed("TLS handshake", code);
    if (trust.insecure || verdict == X509_V_OK) return problem;
    return problems::CertificateNotTrusted(base.host, X509_verify_cert_error_string(verdict));
  }

  std::optional<Problem> Connect() {
    beast::error_code code;
    tcp::resolver resolver(context);
    const auto places = resolver.resolve(base.host, base.port, code);
    if (code) return Failed("look-up of the name", code);
    if (base.scheme == "https") {
      if (trust.ca_file.empty()) tls.set_default_verify_paths(code);
      if (!trust.ca_file.empty()) tls.load_verify_file(trust.ca_file, code);
      if (code) return problems::AuthorityUnreadable(trust.ca_file, code.message());
      secure = std::make_unique<beast::ssl_stream<beast::tcp_stream>>(context, tls);
    } else {
      plain = std::make_unique<beast::tcp_stream>(context);
    }
    transport().expires_after(deadline);
    code = Await(context, [&](auto done) { transport().async_connect(places, std::move(done)); });
    if (code) return Failed("connecting", code);
    transport().socket().set_option(tcp::no_delay(true), code);
    return secure ? Handshake() : std::nullopt;
  }

  template <typename Stream>
  beast::error_code Exchange(Stream& stream, const Request& request, Parser& parser) {
    transport().expires_after(deadline);
    const auto written =
        Await(context, [&](auto done) { http::async_write(stream, request, std::move(done)); });
    if (written) return written;
    return Await(context,
                 [&](auto done) { http::async_read(stream, buffer, parser, std::move(done)); });
  }

  Result<WireResponse> Try(const Request& request) {
    Parser parser;
    parser.body_limit(kBodyMax);
    parser.skip(request.method() == http::verb::head);
    const auto code =
        secure ? Exchange(*secure, request, parser) : Exchange(*plain, request, parser);
    // Not after a timeout: the endpoint may have handled the request, and would handle it twice.
    gone_before_answer =
        !parser.got_some() &&
        (code == http::error::end_of_stream || code == net::error::connection_reset ||
         code == net::error::broken_pipe || code == ssl::error::stream_truncated);
    if (code) return Failed("the answer", code);
    if (!parser.keep_alive()) Close();
    return Taken(parser);
  }
};

WireClient::WireClient(Url base, Trust trust, std::chrono::milliseconds deadline)
    : impl_(std::make_unique<Impl>()) {
  impl_->base = std::move(base);
  impl_->trust = std::move(trust);
  impl_->deadline = deadline;
}

WireClient::~WireClient() = default;

Result<WireResponse> WireClient::Send(const WireRequest& wanted) {
  Request request;
  request.method_string(wanted.method);
  request.target(impl_->base.path + wanted.target);
  request.version(11);
  request.set(http::field::host, impl_->base.host + ":" + impl_->base.port);
  request.set(http::field::user_agent, "caip-conform");
  for (const auto& [name, value] : wanted.headers) request.set(name, value);
  request.body() = wanted.body;
  request.prepare_payload();
  const bool kept = impl_->open();
  if (!kept) {
    if (auto problem = impl_->Connect()) return *problem;
  }
  Result<WireResponse> response = impl_->Try(request);
  if (response.ok() || !kept || !impl_->gone_before_answer) return response;
  if (auto problem = impl_->Connect()) return *problem;  // a kept connection may be closed
  return impl_->Try(request);
}

std::string Encoded(const std::string& text) {
  static const char* kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || std::string("-_.~").find(static_cast<char>(c)) != std::string::npos) {
      encoded += static_cast<char>(c);
    } else {
      encoded += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return encoded;
}

Result<Url> ParseUrl(const std::string& text) {
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string::npos) return problems::UrlInvalid(text);
  Url url;
  url.scheme = text.substr(0, scheme_end);
  if (url.scheme != "http" && url.scheme != "https") return problems::UrlInvalid(text);
  const size_t path = text.find('/', scheme_end + 3);
  std::string authority = text.substr(scheme_end + 3, path - scheme_end - 3);
  if (path != std::string::npos) url.path = text.substr(path);
  while (url.path.ends_with("/")) url.path.pop_back();
  const size_t colon = authority.rfind(':');
  url.host = authority.substr(0, colon);
  url.port = colon == std::string::npos ? (url.scheme == "https" ? "443" : "80")
                                        : authority.substr(colon + 1);
  if (url.host.empty() || url.port.find_first_not_of("0123456789") != std::string::npos) {
    return problems::UrlInvalid(text);
  }
  return url;
}

}  // namespace conform
