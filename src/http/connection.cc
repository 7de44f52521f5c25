// The reading half is Beast's parser, fed by hand: Beast's own blocking streams know no time limit.
#include "http/connection.h"

#include <boost/beast/http.hpp>
#include <chrono>
#include <vector>

#include "base/text.h"
#include "http/errors.h"
#include "http/guard.h"
#include "http/response_writer.h"
#include "http/target.h"

namespace caip::http {
namespace {

namespace beast = boost::beast::http;
namespace asio = boost::asio;
using Parser = beast::request_parser<beast::buffer_body>;
using Steady = std::chrono::steady_clock;

constexpr size_t kInputBytes = 16 << 10;
constexpr size_t kChunkHeadBytesMax = 64 << 10;
constexpr uint64_t kDrainBytesMax = 64 << 20;  // a refused upload is still read this far, so that
                                               // clients that send first and read then see why
constexpr auto kLinger = std::chrono::milliseconds(1000);

// Bytes received and not yet understood.
class Input {
 public:
  std::string_view view() const { return {data_.data() + begin_, end_ - begin_}; }
  void Consume(size_t count) { begin_ += count; }
  size_t size() const { return end_ - begin_; }
  Flow ReceiveMore(Socket& socket) {
    if (begin_ > 0) {
      std::copy(data_.begin() + static_cast<long>(begin_), data_.begin() + static_cast<long>(end_),
                data_.begin());
      end_ -= begin_;
      begin_ = 0;
    }
    if (data_.size() < end_ + kInputBytes) data_.resize(end_ + kInputBytes);
    const Received received = socket.Receive(data_.data() + end_, data_.size() - end_);
    end_ += received.count;
    return received.flow;
  }

 private:
  std::vector<char> data_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// The body of one request, read as the handler asks for it.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Socket& socket, Input& input, Parser& parser, int silence_seconds)
      : socket_(socket), input_(input), parser_(parser), silence_seconds_(silence_seconds) {
    chunked_ = parser.chunked();
    left_ = chunked_ ? 0 : parser.content_length().value_or(0);
    const std::string expect = LowerCase(parser.get()[beast::field::expect]);
    continue_wanted_ = expect == "100-continue" && parser.get().version() >= 11 && !AtEnd();
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (failed_) return errors::BodyTruncated();
    if (AtEnd() || size == 0) return size_t{0};
    if (std::exchange(continue_wanted_, false) &&
        socket_.Send("HTTP/1.1 100 Continue\r\n\r\n") != Flow::kData) {
      return Fail(Flow::kBroken);
    }
    return chunked_ ? ReadChunked(buffer, size) : ReadCounted(buffer, size);
  }

  /// Whether what is left may be skipped so that the connection can serve the next request.
  bool WorthDraining() const {
    return !failed_ && !continue_wanted_ && (chunked_ || left_ <= kDrainBytesMax);
  }
  bool AtEnd() const { return chunked_ ? parser_.is_done() : left_ == 0; }

  bool Drain() {
    if (AtEnd()) return true;
    std::vector<char> scratch(64 << 10);
    for (uint64_t skipped = 0; skipped <= kDrainBytesMax;) {
      const auto count = Read(scratch.data(), scratch.size());
      if (!count.ok()) return false;
      if (*count == 0) return true;
      skipped += *count;
    }
    return false;
  }

 private:
  Result<size_t> ReadCounted(char* buffer, size_t size) {
    size = static_cast<size_t>(std::min<uint64_t>(size, left_));
    if (input_.size() > 0) {
      size = std::min(size, input_.size());
      std::copy_n(input_.view().data(), size, buffer);
      input_.Consume(size);
    } else {
      const Received received = socket_.Receive(buffer, size);
      if (received.flow != Flow::kData) return Fail(received.flow);
      size = received.count;
    }
    left_ -= size;
    return size;
  }

  Result<size_t> ReadChunked(char* buffer, size_t size) {
    auto& body = parser_.get().body();
    body.data = buffer;
    body.size = size;
    while (body.size == size && !parser_.is_done()) {
      boost::system::error_code error = beast::error::need_more;
      if (input_.size() > 0) {
        const std::string_view bytes = input_.view();
        input_.Consume(parser_.put(asio::buffer(bytes.data(), bytes.size()), error));
      }
      if (error == beast::error::need_more) {
        if (input_.size() > kChunkHeadBytesMax) return Malformed("a chunk's head is too long");
        const Flow flow = input_.ReceiveMore(socket_);
        if (flow != Flow::kData) return Fail(flow);
      } else if (error && error != beast::error::need_buffer) {
        return Malformed(error.message());
      }
    }
    return size - body.size;
  }

  Error Fail(Flow flow) {
    failed_ = true;
    if (flow == Flow::kSilent) return errors::PeerSilent(silence_seconds_);
    return flow == Flow::kEnd ? errors::BodyTruncated() : errors::PeerGone();
  }
  Error Malformed(std::string_view why) {
    failed_ = true;
    return errors::BodyMalformed(why);
  }

  Socket& socket_;
  Input& input_;
  Parser& parser_;
  int silence_seconds_;
  bool chunked_ = false;
  bool continue_wanted_ = false;
  bool failed_ = false;
  uint64_t left_ = 0;
};

// Counts a request as active for as long as it lives.
class ActiveRequest {
 public:
  ActiveRequest(ConnectionContext& context, std::atomic<bool>& busy)
      : context_(context), busy_(busy) {
    busy_ = true;
    ++context_.active_requests;
    ++context_.total_requests;
  }
  ~ActiveRequest() {
    --context_.active_requests;
    busy_ = false;
  }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

 private:
  ConnectionContext& context_;
  std::atomic<bool>& busy_;
};

class Connection {
 public:
  Connection(Socket& socket, const Origin& origin, ConnectionContext& context,
             std::atomic<bool>& busy)
      : socket_(socket), origin_(origin), context_(context), busy_(busy) {
    socket_.SetSilenceLimit(std::chrono::seconds(context.options.idle_seconds));
  }

  void Serve() {
    while (!context_.stopping) {
      Parser parser;
      if (!ReadHead(parser)) return;
      if (!AnswerOne(parser)) return Linger();
    }
  }

 private:
  // False when there is no request to answer (any more).
  bool ReadHead(Parser& parser) {
    parser.header_limit(static_cast<std::uint32_t>(context_.options.header_bytes_max));
    parser.body_limit(boost::none);
    const auto deadline = Steady::now() + std::chrono::seconds(context_.options.idle_seconds);
    while (!parser.is_header_done()) {
      while (input_.view().starts_with("\r\n") && !parser.got_some()) input_.Consume(2);
      boost::system::error_code error = beast::error::need_more;
      if (input_.size() > 0) {
        const std::string_view bytes = input_.view();
        input_.Consume(parser.put(asio::buffer(bytes.data(), bytes.size()), error));
      }
      if (error == beast::error::header_limit) {
        return Refuse(431, "The request's header is larger than " +
                               std::to_string(context_.options.header_bytes_max) + " bytes.");
      }
      if (error && error != beast::error::need_more) {
        return Refuse(400, "The request is no HTTP/1.1: " + error.message() + ".");
      }
      if (parser.is_header_done() || !error) continue;
      const Flow flow = input_.ReceiveMore(socket_);
      const bool late = context_.options.idle_seconds > 0 && Steady::now() > deadline;
      if ((flow == Flow::kSilent || late) && input_.size() > 0) {
        return Refuse(408, "The request's header did not arrive in time.");
      }
      if (flow != Flow::kData) return false;
    }
    return true;
  }

  bool Refuse(int status, std::string_view message) {
    WriteResponse(socket_, errors::Refusal(status, message), {.keep_alive = false});
    Linger();
    return false;
  }

  // False when the connection must end.
  bool AnswerOne(Parser& parser) {
    const ActiveRequest active(context_, busy_);
    RequestBody body(socket_, input_, parser, context_.options.idle_seconds);
    return Answer(parser, body);
  }

  bool Answer(Parser& parser, RequestBody& body) {
    const auto& message = parser.get();
    const ResponseForm form{message.method_string() == "HEAD", message.version() >= 11, true};
    Request request;
    Response response;
    bool usable = true;
    if (const auto refusal = Understand(message, parser.chunked(), request)) {
      response = *refusal;
      usable = response.status == 403;
    } else {
      request.body = &body;
      response = Handle(request);
    }
    ResponseForm final_form = form;
    final_form.keep_alive = usable && message.keep_alive() && !context_.stopping &&
                            (body.AtEnd() || body.WorthDraining());
    return WriteResponse(socket_, response, final_form) && body.Drain();
  }

  // Fills the request, or says why it cannot be served.
  template <typename Message>
  std::optional<Response> Understand(const Message& message, bool chunked, Request& request) {
    if (message.version() != 10 && message.version() != 11) {
      return errors::Refusal(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");
    }
    if (message.count(beast::field::transfer_encoding) > 0 && !chunked) {
      return errors::Refusal(501, "The only transfer coding served is 'chunked'.");
    }
    if (message.count(beast::field::host) > 1 ||
        (message.version() == 11 && message.count(beast::field::host) == 0)) {
      return errors::Refusal(400, "An HTTP/1.1 request has exactly one Host field.");
    }
    auto target = ParseTarget(message.target());
    if (!target) return errors::Refusal(400, "The request's target is malformed.");
    request.method = std::string(message.method_string());
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    for (const auto& field : message) {
      request.headers.Add(std::string(field.name_string()), std::string(field.value()));
    }
    request.host = std::string(message[beast::field::host]);
    const ServerOptions& options = context_.options;
    if (request.host.empty()) request.host = options.address + ":" + std::to_string(context_.port);
    request.peer = origin_.peer;
    request.listener = origin_.listener;
    if (!HostAllowed(request.host, options.address, options.allowed_hosts) &&
        !NameFitsAny(HostWithoutPort(request.host), options.served_names)) {
      return errors::HostNotAllowed(request.host);
    }
    const std::string_view origin = request.headers.Get("Origin");
    if (!OriginAllowed(origin, request.scheme, request.host)) {
      return errors::OriginNotAllowed(origin);
    }
    return std::nullopt;
  }

  Response Handle(const Request& request) {
    try {
      return context_.handler(request);
    } catch (const std::exception& failure) {
      return errors::Refusal(500, std::string("Internal error: ") + failure.what());
    } catch (...) {
      return errors::Refusal(500, "Internal error.");
    }
  }

  // Says that we are done and reads on for a moment: closing over unread bytes would reset the
  // connection, and the peer would lose our last words.
  void Linger() {
    if (socket_.resets_on_close()) return;
    socket_.ShutdownWrites();
    socket_.SetSilenceLimit(kLinger);
    std::vector<char> scratch(64 << 10);
    const auto deadline = Steady::now() + 5 * kLinger;
    while (!context_.stopping && Steady::now() < deadline &&
           socket_.Receive(scratch.data(), scratch.size()).flow == Flow::kData) {
    }
  }

  Socket& socket_;
  const Origin& origin_;
  ConnectionContext& context_;
  std::atomic<bool>& busy_;
  Input input_;
};

}  // namespace

void ServeConnection(Socket& socket, const Origin& origin, ConnectionContext& context,
                     std::atomic<bool>& busy) {
  Connection(socket, origin, context, busy).Serve();
}

}  // namespace caip::http
