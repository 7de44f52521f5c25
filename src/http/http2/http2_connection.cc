// The connection's thread owns the session and the socket. Each request has a thread of its own,
// which knows only its Http2Stream.
#include "http/http2/http2_connection.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>

#include <algorithm>
#include <list>
#include <map>
#include <system_error>
#include <thread>
#include <vector>

#include "base/abandoned_work.h"
#include "base/clock.h"
#include "http/errors.h"
#include "http/http2/http2_messages.h"
#include "http/http2/http2_session.h"
#include "http/http2/http2_stream.h"

namespace caip::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kHandlersMax = 2 * kHttp2StreamsMax;  // those of reset streams may still run
constexpr auto kFarewellLimit = milliseconds(1000);
constexpr size_t kReceiveBytes = 16 << 10;
constexpr size_t kReceiveBytesInARow = 64 << 10;
constexpr size_t kHeadExcess = 4;      // a header that has so many times the limit is an attack
constexpr size_t kTypeBytesMax = 256;  // of a content type
constexpr size_t kFieldOverhead = 32;  // RFC 9113, section 6.5.2

class Http2Connection final : private Http2Events {
 public:
  Http2Connection(Socket& socket, const Http2Surroundings& around)
      : socket_(socket), around_(around), options_(around.context.options), session_(*this) {}
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;
  ~Http2Connection() override {
    for (Worker& worker : workers_) worker.stream->Abandon();
    for (Worker& worker : workers_) worker.thread.join();
    if (served_ > 0) around_.activity.Enter(Activity::State::kIdle);
  }

  void Serve(const std::string& already) {
    around_.activity.AwaitMore(false, std::nullopt);
    if (!session_.Open(options_.header_bytes_max)) return;
    if (!alarm_.is_open()) session_.End(NGHTTP2_INTERNAL_ERROR);
    bool goes_on = session_.Feed(already);
    while (goes_on) goes_on = Advance() && Wait();
    session_.End(NGHTTP2_NO_ERROR);  // unless it has ended already, for another reason
    socket_.SetSilenceLimit(kFarewellLimit);
    for (Worker& worker : workers_) worker.stream->Abandon();
    if (!session_.SendTo(socket_)) return socket_.ShutdownWrites();
    LingerOn(socket_, around_.context.stopping);
  }

 private:
  using StreamPtr = std::shared_ptr<Http2Stream>;
  struct Worker {
    StreamPtr stream;
    std::thread thread;
  };

  Http2Stream* FindStream(int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
  }

  void BeginHead(int32_t id) override {
    streams_[id] = std::make_shared<Http2Stream>(id, alarm_, options_.idle_seconds);
    streams_[id]->request.is_http2 = true;
    idle_since_ = MonotonicNow();
    if (options_.head_seconds > 0) head_limit_ = {id, idle_since_ + seconds(options_.head_seconds)};
  }

  bool AddField(int32_t id, std::string_view name, std::string_view value) override {
    Http2Stream* const stream = FindStream(id);
    if (stream == nullptr) return true;
    stream->header_bytes += name.size() + value.size() + kFieldOverhead;
    if (stream->header_bytes > kHeadExcess * options_.header_bytes_max) {
      return EndWith(NGHTTP2_ENHANCE_YOUR_CALM);
    }
    if (!IsHeadTooLarge(*stream) || DecidesForm(name, value, stream->request)) {
      AddHttp2Field(stream->request, name, value);
    }
    return true;
  }

  // True for fields that the form of a refusal depends on.
  static bool DecidesForm(std::string_view name, std::string_view value, const Request& request) {
    if (name == ":method") return value.size() <= kTypeBytesMax;
    return name == "content-type" && value.size() <= kTypeBytesMax && !request.headers.Has(name);
  }

  bool IsHeadTooLarge(const Http2Stream& stream) const {
    return stream.header_bytes > options_.header_bytes_max;
  }

  void EndHead(int32_t id) override {
    EndHeadLimit(id);
    if (FindStream(id) != nullptr) BeginAnswer(streams_[id]);
  }

  void EndHeadLimit(int32_t id) {
    if (head_limit_ && head_limit_->stream == id) head_limit_.reset();
  }

  void TakeData(int32_t id, std::string_view data) override {
    Http2Stream* const stream = FindStream(id);
    if (stream == nullptr || !stream->ReceiveBody(data)) session_.Credit(id, data.size());
  }

  void EndBody(int32_t id) override {
    if (Http2Stream* const stream = FindStream(id)) stream->EndBody();
  }

  void CloseStream(int32_t id) override {
    EndHeadLimit(id);
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    found->second->Abandon();
    session_.CreditConnection(found->second->TakeReadCount());
    const bool was_served = found->second->is_served;
    streams_.erase(found);
    idle_since_ = MonotonicNow();
    if (was_served) EndServing();
    if (streams_.empty()) around_.activity.SetRefusing(false);
  }

  // The connection is idle while no handler has a request, even if refusals are being sent. False
  // if the server has evicted it. A client may repeat a request that is refused for that.
  bool BeginServing() {
    if (served_ == 0 && !around_.activity.BeginRequest()) return false;
    ++served_;
    return true;
  }
  void EndServing() {
    if (--served_ == 0) around_.activity.Enter(Activity::State::kIdle);
  }

  // Takes one of the requests that the server answers at a time.
  bool ReserveHandler() {
    if (workers_.size() >= kHandlersMax) return false;
    if (++around_.context.http2_requests <= options_.http2_requests_max) return true;
    --around_.context.http2_requests;
    return false;
  }

  void BeginAnswer(const StreamPtr& stream) {
    Request& request = stream->request;
    request.body = stream.get();
    request.peer = around_.origin.peer;
    request.listener = around_.origin.listener;
    std::optional<Response> refusal = IsHeadTooLarge(*stream)
                                          ? errors::HeadTooLarge(options_.header_bytes_max)
                                          : ReadHttp2Target(request);
    request.scheme = socket_.secure() ? "https" : "http";
    if (!refusal) refusal = around_.check.Refuse(request, false);
    if (refusal) return AnswerHere(*stream, *refusal);
    if (!ReserveHandler()) return session_.Reset(stream->id(), NGHTTP2_REFUSED_STREAM);
    if (!BeginServing()) {
      --around_.context.http2_requests;
      return session_.Reset(stream->id(), NGHTTP2_REFUSED_STREAM);
    }
    stream->is_served = true;
    if (options_.time_limit) stream->limit = options_.time_limit(request);
    StartHandler(stream);
  }

  void StartHandler(const StreamPtr& stream) {
    try {
      workers_.push_back({stream, std::thread([this, stream] { RunHandler(*stream); })});
    } catch (const std::system_error&) {  // no thread is available
      --around_.context.http2_requests;
      stream->is_served = false;
      EndServing();
      AnswerHere(*stream, errors::TooManyConnections(options_.connections_max));
    }
  }

  // Answers on the connection's thread, without a handler.
  void AnswerHere(Http2Stream& stream, const Response& refusal) {
    if (options_.on_own_answer) options_.on_own_answer(stream.request, refusal);
    const auto& render = options_.render_own_answer;
    stream.Answer(render ? render(stream.request, refusal) : refusal,
                  stream.request.method == "HEAD");
    stream.MarkHandlerEnded();
    around_.activity.BeginHead();  // the client has had a request, so it is not new any more
    around_.activity.AwaitMore(true, std::nullopt);
    around_.activity.SetRefusing(true);
  }

  void RunHandler(Http2Stream& stream) {
    ConnectionContext& context = around_.context;
    ++context.active_requests;
    ++context.total_requests;
    {
      const AbandonableWork work([&stream] { return stream.IsAbandoned(); });
      const Response response = HandleSafely(context.handler, stream.request);
      stream.Answer(response, stream.request.method == "HEAD");
    }
    --context.active_requests;
    --context.http2_requests;
    stream.MarkHandlerEnded();
  }

  // Hands the progress of the handlers to the session, and sends. False if the connection has
  // ended.
  bool Advance() {
    alarm_.Silence();
    JoinWorkers();
    std::vector<StreamPtr> streams;
    for (const auto& [id, stream] : streams_) streams.push_back(stream);
    for (const StreamPtr& stream : streams) AdvanceStream(*stream);
    if (around_.context.stopping && !std::exchange(is_stopping_, true)) session_.RefuseMore();
    return session_.SendTo(socket_) && !session_.IsOver();
  }

  void AdvanceStream(Http2Stream& stream) {
    if (const size_t read = stream.TakeReadCount(); read > 0) session_.Credit(stream.id(), read);
    if (stream.limit && MonotonicNow() >= stream.limit->at) EndAtLimit(stream);
    const Deadline stall = StallLimit(stream);
    if (stall && MonotonicNow() >= *stall) session_.Reset(stream.id(), NGHTTP2_CANCEL);
    if (const auto head = stream.TakeHead()) {
      stream.is_submitted = true;
      stream.progress_at = MonotonicNow();
      session_.Respond(stream, *head);
    }
    if (stream.is_deferred && stream.HasOutput()) {
      stream.is_deferred = false;
      stream.progress_at = MonotonicNow();
      session_.Resume(stream.id());
    }
  }

  void EndAtLimit(Http2Stream& stream) {
    if (!stream.is_submitted) {
      stream.Answer(stream.limit->answer, false);
    } else if (!session_.HasWindow(stream.id()) || !stream.EndByTrailers(stream.limit->trailers)) {
      session_.Reset(stream.id(), NGHTTP2_CANCEL);
    }
    stream.limit.reset();
    stream.Abandon();
  }

  void JoinWorkers() {
    std::erase_if(workers_, [](Worker& worker) {
      if (!worker.stream->has_handler_ended()) return false;
      worker.thread.join();
      return true;
    });
  }

  // Waits for the client or a handler, and reads what the client sent. False if the connection has
  // ended.
  bool Wait() {
    pollfd waits[] = {{socket_.get(), POLLIN, 0},
                      {alarm_.descriptor(), POLLIN, 0},
                      {is_stopping_ ? -1 : around_.context.stop_event.get(), POLLIN, 0}};
    const int wait = socket_.HasPending() ? 0 : WaitMilliseconds();
    const bool has_come = ::poll(waits, std::size(waits), wait) > 0 || socket_.HasPending();
    const MonotonicTime now = MonotonicNow();
    if (head_limit_ && now >= head_limit_->at) return EndWith(NGHTTP2_ENHANCE_YOUR_CALM);
    const Deadline idle_limit = IdleLimit();
    if (!has_come && idle_limit && now >= *idle_limit) return EndWith(NGHTTP2_NO_ERROR);
    return !has_come || ReceiveInput();
  }

  bool EndWith(uint32_t code) {
    session_.End(code);
    return false;
  }

  Deadline IdleLimit() const {
    if (served_ > 0 || options_.idle_seconds == 0) return std::nullopt;
    return idle_since_ + seconds(options_.idle_seconds);
  }

  // When the client has taken nothing of the response for too long.
  Deadline StallLimit(const Http2Stream& stream) const {
    if (!stream.is_submitted || stream.is_deferred || options_.idle_seconds == 0) {
      return std::nullopt;
    }
    return stream.progress_at + seconds(options_.idle_seconds);
  }

  int WaitMilliseconds() const {
    Deadline next = IdleLimit();
    const auto consider = [&next](const Deadline& other) {
      if (other && (!next || *other < *next)) next = other;
    };
    if (head_limit_) consider(head_limit_->at);
    for (const auto& [id, stream] : streams_) {
      if (stream->limit) consider(stream->limit->at);
      consider(StallLimit(*stream));
    }
    if (!next) return -1;
    const auto left = std::chrono::ceil<milliseconds>(*next - MonotonicNow()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
  }

  bool ReceiveInput() {
    char buffer[kReceiveBytes];
    for (size_t taken = 0; taken < kReceiveBytesInARow;) {
      const Received received = socket_.ReceiveNow(buffer, sizeof buffer);
      if (received.flow == Flow::kSilent) return true;
      if (received.flow != Flow::kData) return false;
      if (!session_.Feed({buffer, received.count})) return false;
      taken += received.count;
    }
    return true;
  }

  Socket& socket_;
  const Http2Surroundings around_;
  const ServerOptions& options_;
  Http2Alarm alarm_;
  std::map<int32_t, StreamPtr> streams_;
  std::list<Worker> workers_;
  Http2Session session_;
  MonotonicTime idle_since_ = MonotonicNow();
  size_t served_ = 0;  // streams whose requests handlers have
  struct HeadLimit {
    int32_t stream;
    MonotonicTime at;
  };
  std::optional<HeadLimit> head_limit_;  // of a request's header whose first bytes have come
  bool is_stopping_ = false;
};

}  // namespace

void ServeHttp2(Socket& socket, const std::string& already, const Http2Surroundings& around) {
  Http2Connection(socket, around).Serve(already);
}

}  // namespace caip::http
