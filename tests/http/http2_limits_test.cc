// Clients of HTTP/2 that take too much, too slowly, or break rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "http/http2/http2_session.h"
#include "tests/http/http2_peer.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kNoWindow = 0;

Response HelloOverHttp2(const Request&) { return Text("hello"); }

size_t CountDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Lets handlers wait until it opens.
class Http2Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    has_come_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return is_open_; });
  }
  void AwaitComing() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return has_come_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_come_ = false;
  bool is_open_ = false;
};

TEST(Http2Limits, AConnectionWithOnlyARefusalIsIdle) {
  ServerOptions options;
  options.connections_max = 1;
  const Served served(HelloOverHttp2, options);
  Http2Peer refused(served->port(), kNoWindow);
  const int32_t id = refused.Send(Http2Peer::Head("GET", "/", {}, "evil.example"));
  EXPECT_EQ(refused.AwaitHead(id).status(), "403");
  EXPECT_EQ(Http2Peer(served->port()).Ask(Http2Peer::Head("GET", "/")).body, "hello");
  EXPECT_TRUE(refused.AwaitEnd());
  EXPECT_EQ(refused.end_code(), static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

// The connection needs a descriptor of its own. One that it cannot have ends it with the reason.
TEST(Http2Limits, EndsAConnectionForWhichNoDescriptorIsLeft) {
  std::atomic<int> served = 0;
  const Served server([&](const Request&) {
    ++served;
    return Text("hello");
  });
  const size_t alone = CountDescriptors();
  Http2Peer peer(server->port());
  const auto end = MonotonicNow() + std::chrono::seconds(20);
  while (CountDescriptors() < alone + 2 && MonotonicNow() < end) std::this_thread::yield();
  ASSERT_GE(CountDescriptors(), alone + 2) << "awaited: both ends of the connection";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  // The acceptor takes one for a moment, when it looks for another connection.
  std::vector<Fd> all;
  const auto filled = MonotonicNow() + std::chrono::milliseconds(200);
  while (MonotonicNow() < filled) {
    Fd another(::dup(STDERR_FILENO));
    if (another.valid()) all.push_back(std::move(another));
  }
  peer.Send(Http2Peer::Head("GET", "/"));
  EXPECT_TRUE(peer.AwaitEnd());
  EXPECT_EQ(peer.end_code(), static_cast<uint32_t>(NGHTTP2_INTERNAL_ERROR));
  all.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(served, 0);
  EXPECT_EQ(Http2Peer(server->port()).Ask(Http2Peer::Head("GET", "/")).body, "hello");
}

TEST(Http2Limits, EndsAConnectionWhoseRefusalCannotBeSent) {
  ServerOptions options;
  options.idle_seconds = 1;
  const Served served(HelloOverHttp2, options);
  Http2Peer refused(served->port(), kNoWindow);
  refused.Send(Http2Peer::Head("GET", "/", {}, "evil.example"));
  EXPECT_TRUE(refused.AwaitEnd());
}

TEST(Http2Limits, ResetsAStreamWhoseClientTakesNothing) {
  ServerOptions options;
  options.idle_seconds = 1;
  const Served served(HelloOverHttp2, options);
  Http2Peer peer(served->port(), kNoWindow);
  const auto answer = peer.Await(peer.Send(Http2Peer::Head("GET", "/")));
  EXPECT_EQ(answer.status(), "200");
  EXPECT_TRUE(answer.is_closed);
  EXPECT_EQ(answer.reset_code, static_cast<uint32_t>(NGHTTP2_CANCEL));
}

TEST(Http2Limits, HoldsLittleOfABodyThatTheClientDoesNotTake) {
  std::atomic<size_t> taken = 0;
  ServerOptions options;
  options.idle_seconds = 1;
  Http2Gate ended;
  const Served served(
      [&](const Request&) {
        Response response;
        response.write_body = [&](const Response::Sink& sink) {
          while (taken < (4 << 20) && sink(std::string(10'000, 'x'))) taken += 10'000;
          ended.Open();
        };
        return response;
      },
      options);
  Http2Peer peer(served->port(), kNoWindow);
  EXPECT_TRUE(peer.Await(peer.Send(Http2Peer::Head("GET", "/"))).is_closed);
  ended.Wait();
  EXPECT_LE(taken, (128u << 10) + 10'000);
}

TEST(Http2Limits, TheTimeForAHeaderEndsWithItsStream) {
  ServerOptions options;
  options.head_seconds = 1;
  options.idle_seconds = 2;
  const Served served(HelloOverHttp2, options);
  Http2Peer peer(served->port());
  const auto answer = peer.Ask(Http2Peer::Head("GET", "/", {{"connection", "close"}}));
  EXPECT_EQ(answer.reset_code, static_cast<uint32_t>(NGHTTP2_PROTOCOL_ERROR));
  EXPECT_TRUE(peer.AwaitEnd());
  EXPECT_EQ(peer.end_code(), static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

// Asks again while the stream is refused: a request counts until its handler has ended, which may
// be after the client has the answer.
std::string BodyInTheEnd(Http2Peer& peer, const char* path) {
  for (int tries = 0; tries < 10'000; ++tries) {
    const auto answer = peer.Ask(Http2Peer::Head("GET", path));
    if (answer.reset_code != static_cast<uint32_t>(NGHTTP2_REFUSED_STREAM)) return answer.body;
  }
  return "always refused";
}

TEST(Http2Limits, RefusesStreamsBeyondTheNumberOfRequests) {
  Http2Gate gate;
  ServerOptions options;
  options.http2_requests_max = 1;
  const Served served(
      [&](const Request& request) {
        if (request.path == "/waits") gate.Wait();
        return Text(request.path);
      },
      options);
  Http2Peer first(served->port());
  Http2Peer second(served->port());
  const int32_t waiting = first.Send(Http2Peer::Head("GET", "/waits"));
  gate.AwaitComing();
  EXPECT_EQ(second.Ask(Http2Peer::Head("GET", "/2")).reset_code,
            static_cast<uint32_t>(NGHTTP2_REFUSED_STREAM));
  EXPECT_EQ(second.Ask(Http2Peer::Head("GET", "/", {}, "evil.example")).status(), "403");
  gate.Open();
  EXPECT_EQ(first.Await(waiting).body, "/waits");
  EXPECT_EQ(BodyInTheEnd(first, "/3"), "/3");
  EXPECT_EQ(BodyInTheEnd(second, "/4"), "/4");
}

// Handlers of streams that the client has reset may still run, and count.
TEST(Http2Limits, RefusesStreamsBeyondTheHandlersOfAConnection) {
  constexpr int kHandlersMax = 2 * static_cast<int>(kHttp2StreamsMax);
  Http2Gate gate;
  std::atomic<int> served = 0;
  ServerOptions options;
  options.http2_requests_max = 10 * kHandlersMax;
  const Served server(
      [&](const Request& request) {
        ++served;
        if (request.path == "/waits") gate.Wait();
        return Text(request.path);
      },
      options);
  Http2Peer peer(server->port());
  // Answered without a handler: one that has answered "/first" could still be ending, and count.
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/first", {}, "evil.example")).status(), "403");
  for (int i = 0; i < kHandlersMax; ++i) {
    peer.Reset(peer.Send(Http2Peer::Head("GET", "/waits")));
  }
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/more")).reset_code,
            static_cast<uint32_t>(NGHTTP2_REFUSED_STREAM));
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", {}, "evil.example")).status(), "403")
      << "needs no handler";
  EXPECT_EQ(Http2Peer(server->port()).Ask(Http2Peer::Head("GET", "/other")).body, "/other")
      << "another connection has its own";
  const auto end = MonotonicNow() + std::chrono::seconds(20);
  while (served < kHandlersMax + 1 && MonotonicNow() < end) std::this_thread::yield();
  EXPECT_EQ(served, kHandlersMax + 1) << "all but the refused ones";
  gate.Open();
  Http2Peer::Answer after;
  while (after.body != "/after" && MonotonicNow() < end) {
    after = peer.Ask(Http2Peer::Head("GET", "/after"));
  }
  EXPECT_EQ(after.body, "/after") << "once the handlers have ended";
}

TEST(Http2Limits, EndsAConnectionWithAHeaderFarBeyondTheLimit) {
  ServerOptions options;
  options.header_bytes_max = 4000;
  const Served served(HelloOverHttp2, options);
  Http2Peer peer(served->port());
  peer.Send(
      Http2Peer::Head("GET", "/", {{"a", std::string(9000, 'x')}, {"b", std::string(9000, 'x')}}));
  EXPECT_TRUE(peer.AwaitEnd());
  EXPECT_EQ(peer.end_code(), static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST(Http2Limits, KeepsTheFormOfARequestWhoseHeaderIsTooLarge) {
  std::string seen;
  ServerOptions options;
  options.header_bytes_max = 4000;
  options.render_own_answer = [&](const Request& request, const Response& response) {
    seen = request.method + " " + std::string(request.headers.Get("content-type"));
    EXPECT_TRUE(request.is_http2);
    return response;
  };
  const Served served(HelloOverHttp2, options);
  Http2Peer peer(served->port());
  const Http2Peer::Fields fields = {{"a", std::string(4000, 'x')}, {"content-type", "b/c"}};
  EXPECT_EQ(peer.Ask(Http2Peer::Head("POST", "/", fields)).status(), "431");
  EXPECT_EQ(seen, "POST b/c");
}

// Writes a body until its client's time is over.
Response EndlessBody(const Request&) {
  Response response;
  response.trailers = std::make_shared<Headers>();
  response.write_body = [](const Response::Sink& sink) {
    sink("begun");
    const auto end = MonotonicNow() + std::chrono::seconds(20);
    while (sink("") && MonotonicNow() < end) std::this_thread::yield();
  };
  return response;
}

ServerOptions WithTrailersAtALimit() {
  ServerOptions options;
  options.time_limit = [](const Request&) {
    auto trailers = std::make_shared<Headers>();
    trailers->Add("x-end", "late");
    return TimeLimit{MonotonicNow() + std::chrono::seconds(3), Text(""), trailers};
  };
  return options;
}

TEST(Http2Limits, EndsABodyWithTheTrailersOfItsTimeLimit) {
  const Served served(EndlessBody, WithTrailersAtALimit());
  Http2Peer peer(served->port());
  const auto answer = peer.Ask(Http2Peer::Head("GET", "/"));
  EXPECT_EQ(answer.body, "begun");
  EXPECT_EQ(answer.reset_code, 0u);
  ASSERT_EQ(answer.trailers.count("x-end"), 1u);
  EXPECT_EQ(answer.trailers.at("x-end"), "late");
}

TEST(Http2Limits, ResetsABodyAtItsTimeLimitIfTheClientTakesNothing) {
  const Served served(EndlessBody, WithTrailersAtALimit());
  Http2Peer peer(served->port(), kNoWindow);
  const auto answer = peer.Await(peer.Send(Http2Peer::Head("GET", "/")));
  EXPECT_EQ(answer.status(), "200");
  EXPECT_EQ(answer.reset_code, static_cast<uint32_t>(NGHTTP2_CANCEL));
}

TEST(Http2Limits, TellsTheReasonWhenAClientBreaksTheProtocol) {
  const Served served(HelloOverHttp2);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  peer.SendBytes(std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x03", 9));
  EXPECT_TRUE(peer.AwaitEnd());
  EXPECT_EQ(peer.end_code(), static_cast<uint32_t>(NGHTTP2_FRAME_SIZE_ERROR));
}

TEST(Http2Limits, TellsAnEvictedClient) {
  ServerOptions options;
  options.connections_max = 1;
  const Served served(HelloOverHttp2, options);
  Http2Peer first(served->port());
  EXPECT_EQ(first.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  EXPECT_EQ(first.Ask(Http2Peer::Head("GET", "/")).status(), "200");  // all before it was read
  EXPECT_EQ(Http2Peer(served->port()).Ask(Http2Peer::Head("GET", "/")).status(), "200");
  EXPECT_TRUE(first.AwaitEnd());
  EXPECT_EQ(first.end_code(), static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

TEST(Http2Limits, RefusesASecondHostAndAForeignScheme) {
  const Served served(HelloOverHttp2);
  Http2Peer peer(served->port());
  const auto differs = peer.Ask(Http2Peer::Head("GET", "/", {{"host", "evil.example"}}));
  EXPECT_EQ(differs.status(), "400");
  EXPECT_THAT(differs.body, HasSubstr("evil.example"));
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", {{"host", "LOCALHOST:80"}})).status(), "200");
  const Http2Peer::Fields ftp = {
      {":method", "GET"}, {":scheme", "ftp"}, {":authority", "localhost"}, {":path", "/"}};
  const auto foreign = peer.Ask(ftp);
  EXPECT_EQ(foreign.status(), "400");
  EXPECT_THAT(foreign.body, HasSubstr("'ftp'"));
}

}  // namespace
}  // namespace caip::http
