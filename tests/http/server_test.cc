#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/http/raw_peer.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Response Text(std::string body) {
  Response response;
  response.headers.Add("Content-Type", "text/plain");
  response.body = std::move(body);
  return response;
}

// Answers with what it was asked.
Response EchoServer(const Request& request) {
  if (request.path == "/unread") return Text("did not look");
  if (request.path == "/throw") throw std::runtime_error("a handler's mistake");
  if (request.path == "/stream") {
    Response response;
    response.write_body = [](const Response::Sink& sink) { sink("one") && sink("two"); };
    return response;
  }
  if (request.path == "/short") {
    Response response;
    response.content_length = 10;
    response.write_body = [](const Response::Sink& sink) { sink("half"); };
    return response;
  }
  const auto body = request.ReadBody(1 << 20);
  if (!body.ok()) return JsonResponse(400, body.error().message);
  std::string text = request.method + " " + request.path;
  for (const auto& [key, value] : request.query) text += " " + key + "=" + value;
  return Text(text + " [" + *body + "]");
}

class ServerTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}, Handler handler = EchoServer) {
    auto started = Server::Start(options, handler);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(*started);
  }
  // Sends one request that asks for the end, and answers all that came back.
  std::string Ask(const std::string& request) {
    RawPeer peer(server_->port());
    peer.Send(request);
    return peer.ReadToEnd();
  }
  static std::string Get(const std::string& path, const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
  }
  static std::string LastGet(const std::string& path, const std::string& more = "") {
    return Get(path, "Connection: close\r\n" + more);
  }

  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersSeveralRequestsOnOneConnection) {
  Start();
  RawPeer peer(server_->port());
  for (const std::string path : {"/a", "/b", "/c"}) {
    peer.Send(Get(path));
    EXPECT_THAT(peer.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr(path)));
  }
  EXPECT_EQ(server_->total_requests(), 3u);
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  Start();
  const std::string answers = Ask(Get("/first") + Get("/second") + LastGet("/third"));
  const size_t first = answers.find("/first"), second = answers.find("/second");
  ASSERT_NE(first, std::string::npos) << answers;
  ASSERT_NE(second, std::string::npos) << answers;
  EXPECT_LT(first, second);
  EXPECT_LT(second, answers.find("/third"));
}

TEST_F(ServerTest, DecodesTheQueryAndLeavesThePathAlone) {
  Start();
  EXPECT_THAT(Ask(LastGet("/a%2Fb/c?x=1%202&y=a+b&z")),
              HasSubstr("GET /a%2Fb/c x=1 2 y=a b z= []"));
}

TEST_F(ServerTest, ClosesAfterHttp10UnlessAskedToKeepAlive) {
  Start();
  EXPECT_THAT(Ask("GET /old HTTP/1.0\r\n\r\n"),
              AllOf(HasSubstr("GET /old"), HasSubstr("Connection: close")));
}

TEST_F(ServerTest, EndsAStreamForHttp10ByClosing) {
  Start();
  const std::string answer = Ask("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, AllOf(HasSubstr("\r\n\r\nonetwo"), Not(HasSubstr("chunked"))));
}

TEST_F(ServerTest, SendsBodiesOfUnknownLengthInChunks) {
  Start();
  EXPECT_THAT(Ask(LastGet("/stream")), AllOf(HasSubstr("Transfer-Encoding: chunked"),
                                             HasSubstr("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")));
}

TEST_F(ServerTest, ClosesWhenABodyIsShorterThanPromised) {
  Start();
  EXPECT_THAT(Ask(Get("/short")), AllOf(HasSubstr("Content-Length: 10"), HasSubstr("half")));
}

TEST_F(ServerTest, AnswersHeadWithoutABody) {
  Start();
  RawPeer peer(server_->port());
  peer.Send("HEAD /unread HTTP/1.1\r\nHost: localhost\r\n\r\n" + LastGet("/next"));
  const std::string answers = peer.ReadToEnd();
  EXPECT_THAT(answers, AllOf(HasSubstr("Content-Length: 12\r\n"), Not(HasSubstr("did not look")),
                             HasSubstr("GET /next")));
}

TEST_F(ServerTest, ReadsChunkedBodiesWhateverTheirPieces) {
  Start();
  RawPeer peer(server_->port());
  const std::string request =
      "POST /p HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=1\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (char c : request) peer.Send({&c, 1});
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("[hello 0123456789]"));
  peer.Send(Get("/again"));
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("/again"));
}

TEST_F(ServerTest, SaysContinueOnlyWhenTheBodyIsWanted) {
  Start();
  RawPeer peer(server_->port());
  const std::string expect =
      " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  peer.Send("POST /wanted" + expect);
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.Send("abc");
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("[abc]"));
  peer.Send("POST /unread" + expect);
  EXPECT_THAT(peer.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close")));
}

TEST_F(ServerTest, SkipsABodyThatNobodyRead) {
  Start();
  RawPeer peer(server_->port());
  const std::string body(3 << 20, 'x');
  peer.Send("POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body + Get("/after"));
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("did not look"));
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("GET /after"));
}

TEST_F(ServerTest, TellsWhyABodyDidNotArrive) {
  Start();
  RawPeer peer(server_->port());
  peer.Send("POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  peer.EndWrites();
  EXPECT_THAT(peer.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("whole body")));
}

TEST_F(ServerTest, TurnsAHandlersExceptionInto500) {
  Start();
  EXPECT_THAT(Ask(LastGet("/throw")), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("\"code\": 500"),
                                            HasSubstr("a handler's mistake")));
}

TEST_F(ServerTest, LetsNoHeaderValueStartAnotherHeader) {
  Start({}, [](const Request&) {
    Response response = Text("x");
    response.headers.Set("Content-Type", "text/plain\r\nSet-Cookie: evil=1");
    return response;
  });
  EXPECT_THAT(Ask(LastGet("/")), Not(HasSubstr("\r\nSet-Cookie")));
}

struct BadRequest {
  const char* what;
  std::string text;
  const char* answer;
};

TEST_F(ServerTest, RefusesWhatIsNoHttp) {
  Start();
  const BadRequest requests[] = {
      {"no HTTP at all", "hello\r\n\r\n", "HTTP/1.1 400"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n", "HTTP/1.1 400"},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
       "Content-Length: 2\r\n\r\nxx",
       "HTTP/1.1 400"},
      {"an unknown transfer coding",
       "POST / HTTP/1.1\r\nHost: localhost\r\n"
       "Transfer-Encoding: gzip\r\n\r\n",
       "HTTP/1.1 501"},
      {"a broken chunk",
       "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
       "zz\r\n",
       "HTTP/1.1 400"},
      {"a broken query", "GET /?a=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 400"},
      {"another version", "GET / HTTP/2.7\r\nHost: localhost\r\n\r\n", "HTTP/1.1 "},
  };
  for (const BadRequest& request : requests) {
    EXPECT_THAT(Ask(request.text), StartsWith(request.answer)) << request.what;
  }
  EXPECT_THAT(Ask(LastGet("/still")), HasSubstr("GET /still"));
}

TEST_F(ServerTest, RefusesAHugeHeader) {
  Start({.header_bytes_max = 4096});
  EXPECT_THAT(Ask(Get("/", "X: " + std::string(8192, 'x') + "\r\n")), StartsWith("HTTP/1.1 431"));
}

TEST_F(ServerTest, RefusesAForeignHost) {
  Start({.allowed_hosts = {"ml.local"}});
  const std::pair<const char*, const char*> hosts[] = {
      {"localhost:1", "200"},       {"127.0.0.1:80", "200"}, {"127.9.8.7", "200"},
      {"[::1]:8080", "200"},        {"ML.local:5", "200"},   {"evil.example", "403"},
      {"127.0.0.1.evil.io", "403"}, {"10.0.0.1", "403"},     {"localhost.evil.io:80", "403"},
  };
  for (const auto& [host, status] : hosts) {
    EXPECT_THAT(
        Ask("GET / HTTP/1.1\r\nConnection: close\r\nHost: " + std::string(host) + "\r\n\r\n"),
        StartsWith(std::string("HTTP/1.1 ") + status))
        << host;
  }
}

TEST_F(ServerTest, RefusesAForeignOrigin) {
  Start();
  const std::pair<const char*, const char*> origins[] = {
      {"http://localhost", "200"},     {"http://localhost:3000", "403"},
      {"https://evil.example", "403"}, {"null", "403"},
      {"https://localhost", "403"},
  };
  for (const auto& [origin, status] : origins) {
    EXPECT_THAT(Ask(LastGet("/", "Origin: " + std::string(origin) + "\r\n")),
                StartsWith(std::string("HTTP/1.1 ") + status))
        << origin;
  }
}

TEST_F(ServerTest, TellsWhatItAnswersWithoutTheHandler) {
  std::vector<std::string> told;
  ServerOptions options;
  options.on_own_answer = [&told](const Request& request, const Response& response) {
    told.push_back(request.method + " " + request.path + " " + std::to_string(response.status));
  };
  const Served served([](const Request&) { return Text(""); }, options);
  served.Ask("GET /a HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  served.Ask("CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  served.Ask(LastGetRequest("/b"));
  EXPECT_THAT(told, ::testing::ElementsAre("GET /a 403", "CONNECT evil.example:443 403"));
}

TEST_F(ServerTest, ClosesASilentConnection) {
  Start({.idle_seconds = 1});
  EXPECT_EQ(RawPeer(server_->port()).ReadToEnd(), "");
}

TEST_F(ServerTest, RefusesAHeaderThatDoesNotEnd) {
  Start({.head_seconds = 1});
  EXPECT_THAT(Ask("GET / HTT"), StartsWith("HTTP/1.1 408"));
}

TEST_F(ServerTest, NamesTheAddressOfAPortThatIsTaken) {
  Start();
  const auto second = Server::Start({.port = server_->port()}, EchoServer);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kAlreadyExists);
  EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1:" + std::to_string(server_->port())));
}

TEST_F(ServerTest, RefusesAnAddressThatIsNone) {
  const auto server = Server::Start({.address = "not-an-address"}, EchoServer);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code, Code::kInvalidArgument);
}

int ThreadsOfThisProcess() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

TEST_F(ServerTest, RefusesChangesThatABrowserSendsForAnotherSite) {
  Start();
  const auto status = [&](const std::string& method, const std::string& site) {
    return Ask(method + " / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: " + site +
               "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .substr(9, 3);
  };
  for (const char* site : {"cross-site", "same-site"}) {
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
      EXPECT_EQ(status(method, site), "403") << method << site;
    }
    EXPECT_NE(status("GET", site), "403") << site;
  }
  for (const char* site : {"same-origin", "none"}) EXPECT_NE(status("POST", site), "403") << site;
}

// The fewest during a time, or until there are as few as expected: the kernel lists a thread for a
// moment after it was joined.
int FewestThreads(std::chrono::milliseconds time, int expected = 0) {
  const auto end = MonotonicNow() + time;
  int fewest = ThreadsOfThisProcess();
  while (fewest > expected && MonotonicNow() < end) {
    std::this_thread::yield();
    fewest = std::min(fewest, ThreadsOfThisProcess());
  }
  return fewest;
}

TEST_F(ServerTest, StopLeavesNoThreadEvenWithIdleConnections) {
  std::thread([] {}).join();  // a sanitizer starts its own thread with the first one
  const int before = FewestThreads(std::chrono::milliseconds(100));
  Start();
  RawPeer idle(server_->port());
  RawPeer used(server_->port());
  used.Send(Get("/x"));
  used.ReadAnswer();
  server_->Stop(10000);
  EXPECT_EQ(FewestThreads(std::chrono::seconds(20), before), before);
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_FALSE(
      ConnectTo("127.0.0.1", std::to_string(server_->port()), std::chrono::milliseconds(1000))
          .ok());
}

TEST_F(ServerTest, StopLetsARunningHandlerEnd) {
  std::mutex mutex;
  std::condition_variable changed;
  bool entered = false, leave = false;
  Start({}, [&](const Request&) {
    std::unique_lock lock(mutex);
    entered = true;
    changed.notify_all();
    changed.wait(lock, [&] { return leave; });
    return Text("finished");
  });
  RawPeer peer(server_->port());
  peer.Send(Get("/slow"));
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return entered; });
  }
  EXPECT_EQ(server_->active_requests(), 1);
  std::thread stopper([&] { server_->Stop(60000); });
  {
    const std::lock_guard lock(mutex);
    leave = true;
    changed.notify_all();
  }
  EXPECT_THAT(peer.ReadToEnd(), HasSubstr("finished"));
  stopper.join();
  EXPECT_EQ(server_->active_requests(), 0);
}

TEST_F(ServerTest, StopEndsAStreamThatWouldNeverEnd) {
  Start({}, [](const Request&) {
    Response response;
    response.write_body = [](const Response::Sink& sink) {
      while (sink("more\n")) {
      }
    };
    return response;
  });
  RawPeer peer(server_->port());
  peer.Send(Get("/forever"));
  peer.ReadUntil("more");
  server_->Stop(0);
  EXPECT_EQ(server_->active_requests(), 0);
}

}  // namespace
}  // namespace caip::http
