// Beast's parser reads the requests. The bytes come from Socket, because Beast's blocking streams
// have no time limits.
#include "http/connection/connection.h"

#include <poll.h>

#include <boost/beast/http.hpp>
#include <chrono>
#include <vector>

#include "base/abandoned_work.h"
#include "base/clock.h"
#include "base/text.h"
#include "http/connection/guard.h"
#include "http/connection/request_body.h"
#include "http/connection/request_check.h"
#include "http/connection/response_writer.h"
#include "http/connection/small_reads.h"
#include "http/connection/tunnel.h"
#include "http/credentials.h"
#include "http/errors.h"
#include "http/http2/http2_connection.h"
#include "http/message.h"

namespace caip::http {
namespace {

namespace beast = boost::beast::http;
using RequestParser = beast::request_parser<beast::buffer_body>;
using std::chrono::milliseconds;
using std::chrono::seconds;
using State = Activity::State;

constexpr size_t kConnectionInputBytes = 16 << 10;
constexpr auto kLingering = milliseconds(1000);
constexpr auto kRefusalLingering = milliseconds(200);
constexpr auto kTunnelConnectLimit = seconds(30);
constexpr char kTlsHandshake = 0x16;  // the first byte of TLS; no method begins with it
constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

// What the connection does after a request.
enum class Next { kRequest, kLinger, kEnd };

// True if the peer, or the server's Stop(), has closed the connection.
bool HasPeerGone(int fd) {
  pollfd wait{fd, POLLRDHUP, 0};
  return ::poll(&wait, 1, 0) > 0;
}

// Counts a request as active for as long as it lives.
class ActiveRequest {
 public:
  ActiveRequest(ConnectionContext& context, Activity& activity)
      : context_(context), activity_(activity) {
    ++context_.active_requests;
    ++context_.total_requests;
  }
  ~ActiveRequest() {
    activity_.Enter(State::kIdle);
    --context_.active_requests;  // last, so that no connection of an ended request is busy
  }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

 private:
  ConnectionContext& context_;
  Activity& activity_;
};

class Connection {
 public:
  Connection(Socket& socket, const Origin& origin, ConnectionContext& context, Activity& activity)
      : socket_(socket),
        origin_(origin),
        context_(context),
        options_(context.options),
        activity_(activity),
        check_(socket, origin, context) {
    socket_.SetSilenceLimit(seconds(options_.idle_seconds));
  }

  void Serve() {
    if (!StartTlsIfAsked()) return;
    while (!context_.stopping) {
      RequestParser parser;
      is_http2_ = socket_.secure() && socket_.tls()->is_http2();
      if (!is_http2_ && !ReadHead(parser)) break;
      if (is_http2_) {
        return ServeHttp2(socket_, input_.Take(), {origin_, context_, activity_, check_});
      }
      if (!activity_.BeginRequest()) return RefuseEvicted();
      has_served_ = true;
      const Next next =
          parser.get().method() == beast::verb::connect ? Tunnel(parser) : AnswerOne(parser);
      if (next == Next::kLinger) return Linger();
      if (next == Next::kEnd) return;
    }
    socket_.SetSilenceLimit(kLingering);
    if (socket_.secure()) socket_.ShutdownWrites();
  }

 private:
  // False if the connection has ended. Does nothing for a plain connection, or if TLS has started
  // already.
  bool StartTlsIfAsked() {
    if (!context_.tls || socket_.secure()) return true;
    char first = 0;
    if (input_.size() > 0) {
      first = input_.view()[0];
    } else if (socket_.Peek(first).flow != Flow::kData) {
      return EndHead(false);
    }
    if (first != kTlsHandshake) return true;
    SSL_CTX* const tls = context_.tls->get();
    if (tls == nullptr) return false;
    socket_.SetDeadline(HeadDeadline());
    const Flow flow = socket_.AcceptTls(tls, input_.Take());
    socket_.SetDeadline(std::nullopt);
    if (flow != Flow::kData) ReportRejection();
    return flow == Flow::kData;
  }

  void ReportRejection() const {
    const TlsSession& tls = *socket_.tls();
    if (tls.rejection().empty() || !options_.on_certificate_rejected) return;
    options_.on_certificate_rejected(
        {origin_.peer, origin_.listener, tls.server_name(), tls.rejection(), user_agent_});
  }

  Deadline HeadDeadline() const {
    if (options_.head_seconds == 0) return std::nullopt;
    return MonotonicNow() + seconds(options_.head_seconds);
  }

  // Empty lines before a request are ignored (RFC 9112, section 2.2).
  void SkipEmptyLines() {
    while (input_.view().starts_with("\r\n")) {
      input_.Consume(2);
      has_skipped_ = true;
    }
  }

  // True if the client's first bytes are, or may become, those of HTTP/2. Nothing may be before
  // them (RFC 9113, section 3.4), so what follows an empty line is HTTP/1.1.
  bool BeginsLikeHttp2() const {
    return !has_served_ && !has_skipped_ &&
           kHttp2Preface.starts_with(input_.view().substr(0, kHttp2Preface.size()));
  }

  // How many bytes were taken from the socket. nullopt: TLS has taken them.
  std::optional<uint64_t> TakenBytes() const {
    if (socket_.secure()) return std::nullopt;
    return socket_.taken();
  }

  // False if the client sends no further request. If it begins HTTP/2, sets `is_http2_`, and leaves
  // its bytes unread.
  bool ReadHead(RequestParser& parser) {
    parser.header_limit(static_cast<std::uint32_t>(options_.header_bytes_max));
    parser.body_limit(boost::none);
    bool begun = false;
    ambiguous_ = false;
    if (input_.size() > 0) activity_.BeginHead();
    while (!parser.is_header_done()) {
      if (!parser.got_some()) SkipEmptyLines();
      boost::system::error_code error = beast::error::need_more;
      is_http2_ = !parser.got_some() && BeginsLikeHttp2() && input_.size() >= kHttp2Preface.size();
      if (is_http2_) break;
      if (input_.size() > 0 && (parser.got_some() || !BeginsLikeHttp2())) {
        ambiguous_ = ResolveFraming(input_.bytes()) || ambiguous_;
        const std::string_view bytes = input_.view();
        input_.Consume(parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error));
      }
      if (error && error != beast::error::need_more) return RefuseHead(error);
      if (parser.is_header_done() || !error) continue;
      activity_.AwaitMore(has_served_, TakenBytes());
      if (!begun && (input_.size() > 0 || parser.got_some())) {
        begun = true;  // from now on, the header's deadline applies
        socket_.SetDeadline(HeadDeadline());
      }
      const Flow flow = input_.ReceiveMore(socket_, kConnectionInputBytes);
      if (flow == Flow::kSilent && begun) {
        return Refuse(errors::HeadTimeout());
      }
      if (flow != Flow::kData) return EndHead(begun);
      activity_.BeginHead();
    }
    if (begun) socket_.SetDeadline(std::nullopt);
    return true;
  }

  // An evicted client that waits for an answer learns why. One between two requests knows that the
  // server may close the connection.
  bool EndHead(bool begun) {
    if (activity_.evicted() && (begun || !has_served_)) RefuseEvicted();
    return false;
  }

  void RefuseEvicted() {
    RefuseConnection(socket_, errors::TooManyConnections(options_.connections_max),
                     context_.stopping);
  }

  bool RefuseHead(const boost::system::error_code& error) {
    if (error == beast::error::header_limit) {
      return Refuse(errors::HeadTooLarge(options_.header_bytes_max));
    }
    return Refuse(errors::NotHttp(error.message()));
  }

  bool Refuse(const Response& response) {
    RefuseWith(response);
    Linger();
    return false;
  }

  Next RefuseWith(const Response& response) {
    WriteResponse(socket_, response, {.keep_alive = false});
    return Next::kLinger;
  }

  Next AnswerOne(RequestParser& parser) {
    const ActiveRequest active(context_, activity_);
    const auto& message = parser.get();
    small_reads_.Begin(message.method_string());
    const bool expects = LowerCase(message[beast::field::expect]) == "100-continue";
    const BodyForm body_form{parser.chunked(), parser.content_length().value_or(0),
                             expects && message.version() >= 11};
    RequestBody body(socket_, input_, body_form, activity_, options_.idle_seconds);
    ResponseForm form{message.method_string() == "HEAD", message.version() >= 11, true};
    Request request;
    Response response;
    std::optional<AbandonableWork> work;  // until the response has been written
    bool usable = true;
    if (const auto refusal = ReadRequest(message, parser.chunked(), request)) {
      response = *refusal;
      Tell(request, response);
      usable = response.status == 403;
    } else {
      request.body = &body;
      work.emplace([this] { return HasPeerGone(socket_.get()); });
      response = HandleSafely(context_.handler, request);
    }
    small_reads_.Answer(response);
    form.keep_alive = usable && !ambiguous_ && message.keep_alive() && !context_.stopping &&
                      (body.IsAtEnd() || body.IsWorthDraining());
    const bool can_continue = WriteResponse(socket_, response, form) && body.Drain();
    return can_continue ? Next::kRequest : Next::kLinger;
  }

  // Fills the request, or returns the refusal.
  template <typename Message>
  std::optional<Response> ReadRequest(const Message& message, bool chunked, Request& request) {
    if (message.version() != 10 && message.version() != 11) {
      return errors::VersionNotSupported();
    }
    const auto codings = message.count(beast::field::transfer_encoding);
    if (codings > 1) return errors::TransferCodingFieldCount();
    const bool is_chunked =
        chunked && LowerCase(Trim(message[beast::field::transfer_encoding])) == "chunked";
    if (codings == 1 && !is_chunked) return errors::TransferCodingNotSupported();
    if (message.count(beast::field::host) > 1 ||
        (message.version() == 11 && message.count(beast::field::host) == 0)) {
      return errors::HostFieldCount();
    }
    auto target = ParseTarget(message.target());
    if (!target) return errors::TargetMalformed(message.target());
    request.method = std::string(message.method_string());
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    for (const auto& field : message) {
      request.headers.Add(field.name_string(), field.value());
    }
    request.peer = origin_.peer;
    request.listener = origin_.listener;
    request.scheme = socket_.secure() ? "https" : "http";
    request.host = std::string(message[beast::field::host]);
    if (request.host.empty()) request.host = options_.address + ":" + std::to_string(context_.port);
    const bool whole_url = !target->authority.empty();  // it takes precedence over the Host field
    if (whole_url) request.host = std::move(target->authority);
    return check_.Refuse(request, whole_url);
  }

  void Tell(const Request& request, const Response& response) const {
    if (options_.on_own_answer) options_.on_own_answer(request, response);
  }

  // CONNECT: connects the client with the host that it names, or answers itself if the name is
  // served.
  Next Tunnel(RequestParser& parser) {
    const std::string target(parser.get().target());
    const auto to = ParseDestination(target);
    if (parser.chunked() || parser.content_length().value_or(0) > 0 ||
        parser.get().count(beast::field::transfer_encoding) > 0) {
      return RefuseTunnel(target, errors::TunnelWithBody());
    }
    if (!to) return RefuseTunnel(target, errors::DestinationMalformed(target));
    if (socket_.secure()) return RefuseTunnel(target, errors::TunnelInsideTls());
    const Credentials shown = ReadCredentials(parser.get()[beast::field::proxy_authorization]);
    check_.AdmitBearer(shown);
    if (MatchesAnyName(to->host, options_.served_names)) {
      if (socket_.Send(kEstablished) != Flow::kData) return Next::kEnd;
      activity_.Enter(State::kIdle);
      has_served_ = has_skipped_ = false;  // the tunnel begins as a connection does
      user_agent_ = std::string(parser.get()[beast::field::user_agent]);
      return StartTlsIfAsked() ? Next::kRequest : Next::kEnd;
    }
    if (!check_.is_admitted()) {
      return RefuseTunnel(
          target, shown.token.empty() ? check_.NotAdmitted(shown) : errors::ProxyTokenNotValid());
    }
    if (!options_.relay.enabled) return RefuseTunnel(target, errors::RelayOff(to->host));
    const auto& ports = options_.relay.ports;
    if (std::find(ports.begin(), ports.end(), to->port) == ports.end()) {
      return RefuseTunnel(target, errors::PortNotRelayed(to->host, to->port));
    }
    activity_.Enter(State::kRelaying);
    std::string from_server;
    auto server = ConnectToDestination(options_.relay, *to, kTunnelConnectLimit, from_server);
    if (!server.ok()) return RefuseTunnel(target, errors::CannotRelay(server.error()));
    if (socket_.Send(kEstablished) != Flow::kData) return Next::kEnd;
    Relay(socket_, input_.Take(), *server, from_server, seconds(options_.relay.idle_seconds),
          context_.stop_event.get());
    return Next::kEnd;
  }

  Next RefuseTunnel(const std::string& target, const Response& response) {
    Request request;
    request.method = "CONNECT";
    request.path = target;
    Tell(request, response);
    return RefuseWith(response);
  }

  void Linger() { LingerOn(socket_, context_.stopping, kLingering); }

  Socket& socket_;
  const Origin& origin_;
  ConnectionContext& context_;
  const ServerOptions& options_;
  Activity& activity_;
  Input input_;
  RequestCheck check_;
  SmallReads small_reads_;
  std::string user_agent_;    // of a CONNECT
  bool has_served_ = false;   // a request was complete
  bool has_skipped_ = false;  // an empty line was first
  bool ambiguous_ = false;    // the request has two body lengths
  bool is_http2_ = false;
};

}  // namespace

Response HandleSafely(const Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception& failure) {
    return errors::HandlerFailed(failure.what());
  } catch (...) {
    return errors::HandlerFailed("");
  }
}

void LingerOn(Socket& socket, const std::atomic<bool>& stopping, milliseconds silence) {
  if (socket.resets_on_close()) return;
  socket.ShutdownWrites();
  socket.SetSilenceLimit(silence);
  std::vector<char> scratch(64 << 10);
  socket.SetDeadline(MonotonicNow() + 5 * silence);
  while (!stopping && socket.Receive(scratch.data(), scratch.size()).flow == Flow::kData) {
  }
}

void RefuseConnection(Socket& socket, const Response& refusal, const std::atomic<bool>& stopping) {
  socket.SetSilenceLimit(kRefusalLingering);
  WriteResponse(socket, refusal, {.keep_alive = false});
  LingerOn(socket, stopping, kRefusalLingering);
}

void ServeConnection(Socket& socket, const Origin& origin, ConnectionContext& context,
                     Activity& activity) {
  Connection(socket, origin, context, activity).Serve();
}

}  // namespace caip::http
