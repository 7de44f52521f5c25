// Requests over HTTP/2, by prior knowledge. tests/clients has those over TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/abandoned_work.h"
#include "http/http2/http2_connection.h"
#include "tests/http/http2_peer.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A flag that one thread sets and another awaits.
class Http2Flag {
 public:
  void Set() {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }
  bool Await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

Response EchoRequest(const Request& request) {
  const auto body = request.ReadBody(64 << 20);
  Response response = Text(body.ok() ? *body : body.error().message);
  response.headers.Add("X-Seen", request.method + " " + request.host + request.path + " " +
                                     std::string(request.Query("a")) + " " + request.scheme);
  response.headers.Add("Connection", "close");
  return response;
}

TEST(Http2, ServesRequestsOfAClientThatBeginsWithThePreface) {
  const Served served(EchoRequest);
  Http2Peer peer(served->port());
  const auto answer = peer.Ask(Http2Peer::Head("GET", "/x/y%2Fz?a=b", {{"x-own", "1"}}));
  EXPECT_EQ(answer.status(), "200");
  EXPECT_EQ(answer.fields.at("x-seen"), "GET localhost/x/y%2Fz b http");
  EXPECT_EQ(answer.fields.at("content-type"), "text/plain");
  EXPECT_EQ(answer.fields.at("content-length"), "0");
  EXPECT_EQ(answer.fields.count("connection"), 0u);
  EXPECT_EQ(peer.Ask(Http2Peer::Head("POST", "/"), "a body").body, "a body");
  EXPECT_EQ(served->total_requests(), 2u);
}

TEST(Http2, ServesHttp11ToClientsThatBeginLikeThePreface) {
  const Served served(EchoRequest);
  EXPECT_THAT(served.Ask("PRI /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              HasSubstr("X-Seen: PRI localhost/x"));
  EXPECT_THAT(served.Ask("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"), StartsWith("HTTP/1.1 "));
  const std::string after_an_empty_line = "\r\n" + std::string(kHttp2Preface);
  EXPECT_THAT(served.Ask(after_an_empty_line), StartsWith("HTTP/1.1 "));
}

TEST(Http2, KeepsThePaceOfLargeBodiesInBothDirections) {
  const Served served(EchoRequest);
  Http2Peer peer(served->port());
  std::string large(24 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 997) large[i] = static_cast<char>('a' + i % 26);
  EXPECT_TRUE(peer.Ask(Http2Peer::Head("POST", "/"), large).body == large);
}

TEST(Http2, ServesARequestWhileAnotherWaits) {
  Http2Flag open;
  const Served served([&](const Request& request) {
    if (request.path == "/waits") open.Await();
    return Text(request.path);
  });
  Http2Peer peer(served->port());
  const int32_t first = peer.Send(Http2Peer::Head("GET", "/waits"));
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/2")).body, "/2");
  open.Set();
  EXPECT_EQ(peer.Await(first).body, "/waits");
}

TEST(Http2, SendsStreamedBodiesFilesAndTrailers) {
  const Served served([&](const Request& request) {
    Response response;
    auto trailers = std::make_shared<Headers>();
    response.trailers = trailers;
    response.write_body = [trailers, last = request.path](const Response::Sink& sink) {
      for (int i = 0; i < 300; ++i) sink(std::string(10000, 'y'));
      trailers->Add("X-Last", last);
    };
    return response;
  });
  Http2Peer peer(served->port());
  const auto answer = peer.Ask(Http2Peer::Head("GET", "/end"));
  EXPECT_EQ(answer.body.size(), 3'000'000u);
  EXPECT_EQ(answer.trailers.at("x-last"), "/end");
  const auto head = peer.Ask(Http2Peer::Head("HEAD", "/end"));
  EXPECT_EQ(head.status(), "200");
  EXPECT_EQ(head.body, "");
}

TEST(Http2, ResetsAStreamWhoseBodyIsShorterThanAnnounced) {
  const Served served([&](const Request& request) {
    Response response;
    response.content_length = 10;
    response.write_body = [](const Response::Sink& sink) { sink("short"); };
    response.reset = request.path == "/reset";
    return response;
  });
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).reset_code,
            static_cast<uint32_t>(NGHTTP2_INTERNAL_ERROR));
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/reset")).reset_code,
            static_cast<uint32_t>(NGHTTP2_INTERNAL_ERROR));
}

TEST(Http2, RefusesAForeignAuthorityOriginAndToken) {
  ServerOptions options;
  options.allowed_hosts = {"my.host"};
  std::string refused;
  options.on_own_answer = [&](const Request& request, const Response& response) {
    refused += request.path + std::to_string(response.status) + " ";
  };
  options.render_own_answer = [](const Request& request, Response response) {
    response.headers.Set("X-Rendered", request.host);
    return response;
  };
  const Served served(EchoRequest, options);
  Http2Peer peer(served->port());
  const auto foreign = peer.Ask(Http2Peer::Head("POST", "/1", {}, "evil.example:80"), "body");
  EXPECT_EQ(foreign.status(), "403");
  EXPECT_THAT(foreign.body, HasSubstr("evil.example"));
  EXPECT_EQ(foreign.fields.at("x-rendered"), "evil.example:80");
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/2", {{"origin", "http://evil.example"}})).status(),
            "403");
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/3", {}, "my.host")).status(), "200");
  const Http2Peer::Fields tunnel = {{":method", "CONNECT"}, {":authority", "localhost:443"}};
  EXPECT_EQ(peer.Ask(tunnel).status(), "501");
  EXPECT_EQ(refused, "/1403 /2403 501 ");
}

TEST(Http2, ServesAnyAuthorityToRequestsWithAToken) {
  ServerOptions options;
  options.admission.is_token_valid = [](std::string_view token) { return token == "good"; };
  const Served served(EchoRequest, options);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", {}, "any.host")).status(), "403");
  const Http2Peer::Fields bearer = {{"authorization", "Bearer good"}};
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", bearer, "any.host")).status(), "200");
}

TEST(Http2, RefusesAHeaderThatIsTooLarge) {
  ServerOptions options;
  options.header_bytes_max = 4000;
  const Served served(EchoRequest, options);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", {{"x", std::string(4000, 'x')}})).status(), "431");
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).status(), "200");
}

TEST(Http2, AbandonsTheWorkOfAResetStreamAndOfALostConnection) {
  Http2Flag begun[2];
  Http2Flag abandoned[2];
  const Served served([&](const Request& request) {
    const int which = request.path == "/reset" ? 0 : 1;
    begun[which].Set();
    const auto limit = MonotonicNow() + std::chrono::seconds(20);
    while (!IsWorkAbandoned() && MonotonicNow() < limit) std::this_thread::yield();
    if (IsWorkAbandoned()) abandoned[which].Set();
    return Text("late");
  });
  Http2Peer peer(served->port());
  const int32_t id = peer.Send(Http2Peer::Head("GET", "/reset"));
  EXPECT_TRUE(begun[0].Await());
  peer.Reset(id);
  EXPECT_TRUE(abandoned[0].Await());
  peer.Send(Http2Peer::Head("GET", "/lost"));
  EXPECT_TRUE(begun[1].Await());
  peer.Close();
  EXPECT_TRUE(abandoned[1].Await());
}

TEST(Http2, AnswersAtTheTimeLimitAndAbandonsTheWork) {
  Http2Flag abandoned;
  ServerOptions options;
  options.time_limit = [](const Request& request) -> std::optional<TimeLimit> {
    if (request.path != "/slow") return std::nullopt;
    return TimeLimit{MonotonicNow() + std::chrono::milliseconds(20), Text("too late")};
  };
  const Served served(
      [&](const Request& request) {
        if (request.path != "/slow") return Text("in time");
        const auto limit = MonotonicNow() + std::chrono::seconds(20);
        while (!IsWorkAbandoned() && MonotonicNow() < limit) std::this_thread::yield();
        abandoned.Set();
        return Text("never seen");
      },
      options);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/slow")).body, "too late");
  EXPECT_TRUE(abandoned.Await());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/fast")).body, "in time");
}

TEST(Http2, GivesAHandlerAnErrorForABodyThatIsCut) {
  Http2Flag begun;
  Http2Flag read;
  std::string seen;
  const Served served([&](const Request& request) {
    begun.Set();
    const auto body = request.ReadBody(1 << 20);
    seen = body.ok() ? "whole" : body.error().message;
    read.Set();
    return Text("");
  });
  Http2Peer peer(served->port());
  peer.Send(Http2Peer::Head("POST", "/"), "a part", true);
  EXPECT_TRUE(begun.Await());  // the server still knows the client's user
  peer.Close();
  EXPECT_TRUE(read.Await());
  EXPECT_THAT(seen, HasSubstr("ended before the whole body"));
}

TEST(Http2, AnswersBeforeTheBodyHasEnded) {
  const Served served([](const Request&) { return Text("enough"); });
  Http2Peer peer(served->port());
  const auto answer = peer.Await(peer.Send(Http2Peer::Head("POST", "/"), "a part", true));
  EXPECT_EQ(answer.body, "enough");
  EXPECT_EQ(answer.reset_code, static_cast<uint32_t>(NGHTTP2_NO_ERROR));
}

TEST(Http2, EndsAConnectionThatBreaksTheProtocol) {
  const Served served(EchoRequest);
  Http2Peer oversized(served->port());
  EXPECT_EQ(oversized.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  oversized.SendBytes(std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x03", 9));
  EXPECT_TRUE(oversized.AwaitEnd());
  EXPECT_EQ(Http2Peer(served->port()).Ask(Http2Peer::Head("GET", "/")).status(), "200");
}

TEST(Http2, EndsAHeaderThatDoesNotArrive) {
  ServerOptions options;
  options.head_seconds = 1;
  const Served served(EchoRequest, options);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  peer.SendBytes(std::string("\x00\x00\x64\x01\x05\x00\x00\x00\x03\x82", 10));  // 1 byte of 100
  EXPECT_TRUE(peer.AwaitEnd());
}

TEST(Http2, EndsAnIdleConnection) {
  ServerOptions options;
  options.idle_seconds = 1;
  const Served served(EchoRequest, options);
  Http2Peer peer(served->port());
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  EXPECT_TRUE(peer.AwaitEnd());
}

TEST(Http2, FinishesRequestsWhenTheServerStops) {
  Http2Flag begun;
  Http2Flag open;
  Served served([&](const Request&) {
    begun.Set();
    open.Await();
    return Text("finished");
  });
  Http2Peer idle(served->port());
  Http2Peer peer(served->port());
  const int32_t id = peer.Send(Http2Peer::Head("GET", "/"));
  EXPECT_TRUE(begun.Await());
  std::thread stop([&] { served->Stop(20000); });
  open.Set();
  EXPECT_EQ(peer.Await(id).body, "finished");
  EXPECT_TRUE(peer.AwaitEnd());
  stop.join();
}

TEST(Http2, ClosesTheConnectionThatIsIdleLongestForANewOne) {
  ServerOptions options;
  options.connections_max = 1;
  const Served served(EchoRequest, options);
  Http2Peer first(served->port());
  EXPECT_EQ(first.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  // Once it has an answer to this, the server has read all that came before, the acknowledgement of
  // its settings, too. A connection with unread bytes is not idle.
  EXPECT_EQ(first.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  Http2Peer second(served->port());
  EXPECT_EQ(second.Ask(Http2Peer::Head("GET", "/")).status(), "200");
  EXPECT_TRUE(first.AwaitEnd());
}

}  // namespace
}  // namespace caip::http
