// Beast's parser reads the responses; the client writes the requests itself.
#include "http/client.h"

#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <vector>

#include "base/encoding.h"
#include "base/text.h"
#include "http/errors.h"
#include "http/transport/endpoint.h"
#include "http/transport/socket.h"
#include "http/transport/tls.h"

namespace caip::http {
namespace {

namespace beast = boost::beast::http;
using ResponseParser = beast::response_parser<beast::buffer_body>;

constexpr size_t kClientPieceBytes = 64 << 10;
constexpr uint32_t kResponseHeadBytesMax = 256 << 10;
constexpr size_t kErrorBodyBytesMax = 1 << 20;  // the rest is dropped
constexpr auto kClientConnectLimit = std::chrono::seconds(30);

struct Base {
  std::string host;
  std::string port;
  std::string authority;
  std::string prefix;         // a path before every target
  std::string authorization;  // "Basic ...", made from the userinfo; "" none
  bool secure = false;
};

std::optional<Base> ParseBase(std::string_view text) {
  Base base;
  base.secure = text.starts_with("https://");
  if (!base.secure && !text.starts_with("http://")) return std::nullopt;
  text.remove_prefix(text.find("://") + 3);
  base.authority = std::string(text.substr(0, text.find('/')));
  base.prefix = std::string(text.substr(base.authority.size()));
  if (const size_t at = base.authority.rfind('@'); at != std::string::npos) {
    const auto userinfo = PercentDecoded(base.authority.substr(0, at));
    if (!userinfo) return std::nullopt;
    base.authorization = "Basic " + Base64(*userinfo);
    base.authority.erase(0, at + 1);
  }
  while (base.prefix.ends_with('/')) base.prefix.pop_back();
  const size_t colon = base.authority.rfind(':');
  const size_t bracket = base.authority.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  base.host = has_port ? base.authority.substr(0, colon) : base.authority;
  base.port = has_port ? base.authority.substr(colon + 1) : base.secure ? "443" : "80";
  if (base.host.starts_with('[') && base.host.ends_with(']')) {
    base.host = base.host.substr(1, base.host.size() - 2);
  }
  if (base.host.empty() || !IsPort(base.port)) return std::nullopt;
  return base;
}

// Messages must not show the password.
std::string WithoutUserinfo(const std::string& base) {
  const size_t begin = base.find("://");
  if (begin == std::string::npos) return base;
  const size_t host = begin + 3;
  const size_t at = base.substr(0, base.find('/', host)).rfind('@');
  return at == std::string::npos ? base : base.substr(0, host) + base.substr(at + 1);
}

bool HasLineEnd(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

}  // namespace

struct Client::Impl {
  std::string base_text;
  std::optional<Base> base;
  std::string trust_file;
  ContextPtr tls;  // created when first needed
  Socket socket;
  std::vector<char> input;
  size_t input_end = 0;
  int silence_seconds = 60;

  Result<ClientResponse> Send(const ClientRequest& request,
                              const std::function<bool(std::string_view)>& sink);
  Status Connect();
  Status Secure();
  std::string FormatHead(const ClientRequest& request) const;
  Status SendBody(const ClientRequest& request);
  Result<ClientResponse> Receive(bool head, const std::function<bool(std::string_view)>& sink);
  Status ReceiveHead(ResponseParser& parser, bool* any);
  Status ReceiveBody(ResponseParser& parser, const std::function<bool(std::string_view)>& sink,
                     ClientResponse& response);
  Result<bool> Feed(ResponseParser& parser);
  Flow ReceiveMore();
  Error Failure(Flow flow) const;
  void Close() {
    socket.Close();
    input_end = 0;
  }
};

Status Client::Impl::Connect() {
  if (socket.valid() && !socket.IsStale()) return Ok{};
  Close();
  if (base->secure && !tls) {
    ASSIGN_OR_RETURN(tls, MakeTlsClientContext(trust_file));
  }
  ASSIGN_OR_RETURN(socket, ConnectTo(base->host, base->port, kClientConnectLimit));
  socket.SetSilenceLimit(std::chrono::seconds(silence_seconds));
  return base->secure ? Secure() : Ok{};
}

Status Client::Impl::Secure() {
  std::string why;
  const Flow flow = socket.ConnectTls(tls.get(), base->host, why);
  if (flow == Flow::kData) return Ok{};
  Close();
  return flow == Flow::kSilent ? Failure(flow) : errors::TlsRefused(base_text, why);
}

std::string Client::Impl::FormatHead(const ClientRequest& request) const {
  std::string head = request.method + " " + base->prefix + request.target + " HTTP/1.1\r\n";
  if (!request.headers.Has("Host")) head += "Host: " + base->authority + "\r\n";
  if (!base->authorization.empty() && !request.headers.Has("Authorization")) {
    head += "Authorization: " + base->authorization + "\r\n";
  }
  for (const auto& [name, value] : request.headers.all())
    head.append(name).append(": ").append(value).append("\r\n");
  const uint64_t size = request.body_reader ? request.body_size : request.body.size();
  const bool bodiless = request.method == "GET" || request.method == "HEAD" ||
                        request.method == "DELETE" || request.method == "OPTIONS";
  if (size > 0 || !bodiless) head += "Content-Length: " + std::to_string(size) + "\r\n";
  return head + "\r\n";
}

Status Client::Impl::SendBody(const ClientRequest& request) {
  std::vector<char> piece(kClientPieceBytes);
  for (uint64_t left = request.body_size; left > 0;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(left, piece.size()));
    ASSIGN_OR_RETURN(const size_t count, request.body_reader->Read(piece.data(), want));
    if (count == 0) return errors::BodyTruncated();
    const Flow flow = socket.Send({piece.data(), count});
    if (flow == Flow::kBroken) return Ok{};  // the server may have answered already
    if (flow != Flow::kData) return Failure(flow);
    left -= count;
  }
  return Ok{};
}

Result<ClientResponse> Client::Impl::Send(const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& sink) {
  if (!base) return errors::BaseInvalid(base_text);
  const std::string head = FormatHead(request);
  if (HasLineEnd(request.target) || HasLineEnd(request.method)) {
    return errors::NoAnswer(base_text, "the request's target contains a line end");
  }
  for (const bool kept : {true, false}) {
    const bool reused = kept && socket.valid();
    RETURN_IF_ERROR(Connect());
    const Flow sent = socket.Send(head, request.body_reader ? "" : std::string_view(request.body));
    Status body = Ok{};
    if (sent == Flow::kData && request.body_reader) body = SendBody(request);
    if (!body.ok()) {
      Close();
      return body.error();
    }
    auto response = Receive(request.method == "HEAD", sink);
    const bool untouched = !response.ok() && response.error().code == Code::kAborted;
    if (untouched && reused && !request.body_reader) continue;  // the kept connection was dead
    if (!response.ok()) Close();
    if (untouched) return Failure(Flow::kEnd);
    return response;
  }
  return Failure(Flow::kEnd);
}

Error Client::Impl::Failure(Flow flow) const {
  if (flow == Flow::kSilent) return errors::AnswerSilent(base_text, silence_seconds);
  return errors::NoAnswer(base_text, "the connection was closed");
}

Flow Client::Impl::ReceiveMore() {
  if (input.size() < input_end + kClientPieceBytes) input.resize(input_end + kClientPieceBytes);
  const Received received = socket.Receive(input.data() + input_end, input.size() - input_end);
  input_end += received.count;
  return received.flow;
}

// Passes the received bytes to the parser. False if the parser needs more.
Result<bool> Client::Impl::Feed(ResponseParser& parser) {
  boost::system::error_code error = beast::error::need_more;
  if (input_end > 0) {
    const size_t used = parser.put(boost::asio::buffer(input.data(), input_end), error);
    std::copy(input.begin() + static_cast<long>(used), input.begin() + static_cast<long>(input_end),
              input.begin());
    input_end -= used;
  }
  if (error == beast::error::need_more) return false;
  if (error && error != beast::error::need_buffer) {
    return errors::NoAnswer(base_text, error.message());
  }
  return true;
}

// Sets `any` at the first byte of a response.
Status Client::Impl::ReceiveHead(ResponseParser& parser, bool* any) {
  while (!parser.is_header_done()) {
    ASSIGN_OR_RETURN(const bool was_enough, Feed(parser));
    if (was_enough) continue;
    const Flow flow = ReceiveMore();
    if (flow != Flow::kData) return Failure(flow);
    *any = true;
  }
  return Ok{};
}

Status Client::Impl::ReceiveBody(ResponseParser& parser,
                                 const std::function<bool(std::string_view)>& sink,
                                 ClientResponse& response) {
  const bool to_sink = sink && response.status >= 200 && response.status < 300;
  std::vector<char> piece(kClientPieceBytes);
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    const Result<bool> fed = Feed(parser);
    const std::string_view got(piece.data(), piece.size() - body.size);
    if (to_sink && !got.empty() && !sink(got)) {
      Close();
      return Ok{};
    }
    if (!to_sink) response.body.append(got);
    if (sink && response.body.size() > kErrorBodyBytesMax) {
      Close();
      return Ok{};
    }
    if (!fed.ok()) return fed.error();
    if (*fed) continue;
    const Flow flow = ReceiveMore();
    if (flow == Flow::kEnd && parser.need_eof()) {
      Close();
      return Ok{};
    }
    if (flow != Flow::kData) return Failure(flow);
  }
  return Ok{};
}

// kAborted: the connection failed before the first byte of a response.
Result<ClientResponse> Client::Impl::Receive(bool head,
                                             const std::function<bool(std::string_view)>& sink) {
  bool any = false;
  while (true) {
    ResponseParser parser;
    parser.header_limit(kResponseHeadBytesMax);
    parser.body_limit(boost::none);
    if (head) parser.skip(true);
    const Status status = ReceiveHead(parser, &any);
    if (!status.ok() && !any && status.error().code == Code::kUnavailable) {
      return errors::ClosedBeforeAnswer(base_text);
    }
    RETURN_IF_ERROR(status);
    const auto& message = parser.get();
    if (message.result_int() < 200) continue;  // 100 Continue
    ClientResponse response;
    response.status = static_cast<int>(message.result_int());
    for (const auto& field : message) {
      response.headers.Add(std::string(field.name_string()), std::string(field.value()));
    }
    const bool keep = parser.keep_alive();
    RETURN_IF_ERROR(ReceiveBody(parser, sink, response));
    if (!keep) Close();
    return response;
  }
}

Client::Client(std::string base, std::string trust_file) : impl_(std::make_unique<Impl>()) {
  impl_->trust_file = std::move(trust_file);
  impl_->base = ParseBase(base);
  impl_->base_text = WithoutUserinfo(base);
}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<ClientResponse> Client::Send(const ClientRequest& request,
                                    const std::function<bool(std::string_view)>& sink) {
  return impl_->Send(request, sink);
}

void Client::set_silence_seconds(int seconds) {
  impl_->silence_seconds = seconds;
  if (impl_->socket.valid()) impl_->socket.SetSilenceLimit(std::chrono::seconds(seconds));
}

const std::string& Client::base() const { return impl_->base_text; }

}  // namespace caip::http
