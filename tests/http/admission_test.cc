// Who may send requests: the users of the host, by the owner of the client's socket.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/encoding.h"
#include "http/connection/guard.h"
#include "http/transport/peer_user.h"
#include "tests/http/http2_peer.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uid_t kStranger = 61'234;  // no user of this host has this number

// The sockets that this thread opens belong to the stranger.
class AsStranger {
 public:
  AsStranger() : before_(::setfsuid(kStranger)) {}
  ~AsStranger() { ::setfsuid(static_cast<uid_t>(before_)); }
  AsStranger(const AsStranger&) = delete;
  AsStranger& operator=(const AsStranger&) = delete;

 private:
  int before_;
};

class Admitted : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can open sockets of another user";
  }

  static std::string Ask(const Served& served, const std::string& request) {
    const AsStranger stranger;
    return served.Ask(request);
  }
};

Response Hello(const Request&) { return Text("hello"); }

TEST(IsUserAdmitted, IsTrueForTheOwnUserRootAndTheNamed) {
  const Admission named{.users = {kStranger}};
  EXPECT_TRUE(IsUserAdmitted(::geteuid(), {}));
  EXPECT_TRUE(IsUserAdmitted(uid_t{0}, {}));
  EXPECT_FALSE(IsUserAdmitted(kStranger, {}));
  EXPECT_TRUE(IsUserAdmitted(kStranger, named));
  EXPECT_FALSE(IsUserAdmitted(kStranger + 1, named));
  EXPECT_FALSE(IsUserAdmitted(std::nullopt, named));
  EXPECT_TRUE(IsUserAdmitted(std::nullopt, {.anyone = true}));
}

TEST(UserInTable, IsTheOwnerOfAnOpenSocketWithBothEnds) {
  const char* table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:C822 0100007F:08C7 06 00000000:00000000 03:00000 00000000     0        0 0 "
      "3\n"
      "   1: 0100007F:C822 0100007F:08C8 01 00000000:00000000 00:00000 00000000  1002        0 7 "
      "1\n"
      "   2: 0100007F:C823 0100007F:08C7 01 00000000:00000000 00:00000 00000000  1001        0 9 "
      "1\n";
  EXPECT_EQ(UserInTable(table, "0100007F:C823", "0100007F:08C7"), 1001u);
  EXPECT_EQ(UserInTable(table, "0100007F:C822", "0100007F:08C8"), 1002u);
  EXPECT_EQ(UserInTable(table, "0100007F:C822", "0100007F:08C7"), std::nullopt) << "it is closed";
  EXPECT_EQ(UserInTable(table, "0100007F:C824", "0100007F:08C7"), std::nullopt);
}

sockaddr_storage AddressOf(int family, const char* address, uint16_t port) {
  sockaddr_storage made{};
  made.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(made);
    four.sin_port = htons(port);
    EXPECT_EQ(::inet_pton(family, address, &four.sin_addr), 1);
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(made);
    six.sin6_port = htons(port);
    EXPECT_EQ(::inet_pton(family, address, &six.sin6_addr), 1);
  }
  return made;
}

// A client of another host chooses its port. If a program of this host listens there, the kernel
// answers with the program's socket.
TEST(PeerUsers, AreNotThoseOfProgramsThatListenOnThePeersPort) {
  const struct {
    int family;
    const char* all;
    const char* stranger;
    const char* own;
  } families[] = {{AF_INET, "0.0.0.0", "198.51.100.7", "127.0.0.1"},
                  {AF_INET6, "::", "2001:db8::7", "::1"},
                  {AF_INET6, "::", "::ffff:198.51.100.7", "::ffff:127.0.0.1"}};
  for (const auto& [family, all, stranger, own] : families) {
    const Fd listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!listener.valid()) continue;  // the host has no IPv6
    sockaddr_storage at = AddressOf(family, all, 0);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    const uint16_t port = ntohs(reinterpret_cast<const sockaddr_in&>(at).sin_port);
    EXPECT_EQ(PeerUsers().Find(AddressOf(family, stranger, port), AddressOf(family, own, 2)),
              std::nullopt)
        << stranger;
  }
}

TEST(UserNames, AreThoseOfTheHost) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(UserNamed("root"), 0u);
  EXPECT_EQ(UserName(kStranger), "user 61234");
  EXPECT_EQ(UserNamed("61234"), kStranger);
  EXPECT_EQ(UserNamed("no-such-user"), std::nullopt);
}

TEST_F(Admitted, AsksEachRequestOfAStrangerForATokenOverHttp2) {
  ServerOptions options;
  options.admission.is_token_valid = [](std::string_view token) { return token == "good"; };
  const Served served(Hello, options);
  const Http2Peer::Fields bearer = {{"authorization", "Bearer good"}};
  EXPECT_EQ(Http2Peer(served->port()).Ask(Http2Peer::Head("GET", "/")).status(), "200");
  const AsStranger stranger;
  Http2Peer peer(served->port());
  const auto refusal = peer.Ask(Http2Peer::Head("GET", "/"));
  EXPECT_EQ(refusal.status(), "403");
  EXPECT_THAT(refusal.body, HasSubstr("may not use this emulator"));
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", bearer)).status(), "200");
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/", {{"authorization", "Bearer bad"}})).status(),
            "401");
  EXPECT_EQ(peer.Ask(Http2Peer::Head("GET", "/")).status(), "403");
}

TEST_F(Admitted, AreNotOtherUsersOfTheHost) {
  const Served served(Hello);
  EXPECT_THAT(served.Ask(LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
  const std::string refusal = Ask(served, LastGetRequest("/"));
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(refusal, HasSubstr("'user 61234' may not use this emulator: only root"));
  EXPECT_THAT(refusal, HasSubstr("--allow-users"));
  EXPECT_THAT(Ask(served,
                  "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
                  "Access-Control-Request-Method: PUT\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
}

// docker sends its password only after it was asked for it.
TEST_F(Admitted, AreClientsThatAnswerAChallengeWithAToken) {
  const Served served(
      Hello, {.admission = {.is_token_valid = [](std::string_view t) { return t == "right"; },
                            .wants_challenge = [](const Request& r) { return r.path == "/v2/"; }}});
  const std::string refusal = Ask(served, LastGetRequest("/v2/"));
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(refusal, HasSubstr("WWW-Authenticate: Basic realm=\"caip\""));
  EXPECT_THAT(Ask(served, LastGetRequest("/")), StartsWith("HTTP/1.1 403"));
  const auto basic = [](const std::string& token) {
    return "Authorization: Basic " + Base64("oauth2accesstoken:" + token) + "\r\n";
  };
  EXPECT_THAT(Ask(served, LastGetRequest("/v2/", basic("right"))), StartsWith("HTTP/1.1 200"));
  const std::string wrong = Ask(served, LastGetRequest("/v2/", basic("wrong")));
  EXPECT_THAT(wrong, StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(wrong, HasSubstr("WWW-Authenticate: Basic realm=\"caip\""));
}

TEST_F(Admitted, AreOtherUsersOnEveryListenerOnlyIfNamed) {
  const Served served(Hello, {.admission = {.users = {kStranger}}});
  EXPECT_THAT(Ask(served, LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
  const Served closed(Hello);
  const auto port = closed->Listen("127.0.0.1", "replica");
  ASSERT_TRUE(port.ok());
  const AsStranger stranger;
  EXPECT_THAT(closed.Ask(LastGetRequest("/"), *port), StartsWith("HTTP/1.1 403"));
}

// Questions to the kernel use a descriptor of the server. Without one for each connection, the own
// user would be refused.
TEST(OwnUser, IsAdmittedByAServerWithoutFreeDescriptors) {
  const Served served(Hello);
  // A sanitizer needs a descriptor to look at the first object of a class.
  ASSERT_THAT(served.Ask(LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  std::vector<Fd> all;
  while (all.empty() || all.back().valid()) all.emplace_back(::dup(STDERR_FILENO));
  all.pop_back();
  all.resize(all.size() - 2);  // for the two ends of one connection
  Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // a name's lookup would need more
  const sockaddr_in to{.sin_family = AF_INET,
                       .sin_port = htons(served->port()),
                       .sin_addr = {htonl(INADDR_LOOPBACK)},
                       .sin_zero = {}};
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::string request = LastGetRequest("/");
  EXPECT_EQ(::send(client.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string answer(16, '\0');
  const ssize_t count = ::recv(client.get(), answer.data(), answer.size(), MSG_WAITALL);
  answer.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

class TokenBearer : public Admitted {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.admission.is_token_valid = [](std::string_view token) { return token == "sesame"; };
    return options;
  }
};

TEST_F(TokenBearer, IsAdmittedInEveryFormOfTheToken) {
  const Served served(Hello, Options());
  const std::string basic = "Authorization: Basic " + Base64("anybody:sesame") + "\r\n";
  EXPECT_THAT(Ask(served, LastGetRequest("/", "Authorization: Bearer sesame\r\n")),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(served, LastGetRequest("/", basic)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(served, LastGetRequest("/?access_token=sesame")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(served,
                  "GET http://localhost:80/ HTTP/1.1\r\nHost: localhost:80\r\n"
                  "Connection: close\r\nProxy-" +
                      basic + "\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(served, "GET / HTTP/1.1\r\nHost: emulator.example\r\nConnection: close\r\n" +
                              basic + "\r\n"),
              StartsWith("HTTP/1.1 200"));
}

// A container of the own user reaches the emulator by a name that only the token makes good.
TEST_F(TokenBearer, MayNameAnyHostEvenAsTheOwnUser) {
  const Served served([](const Request& request) { return Text(request.BaseUrl()); }, Options());
  const std::string start = "GET / HTTP/1.1\r\nHost: host.docker.internal\r\nConnection: close\r\n";
  EXPECT_THAT(served.Ask(start + "\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(served.Ask(start + "Authorization: Bearer other\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(served.Ask(start + "Authorization: Bearer sesame\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
  const std::string basic = "Authorization: Basic " + Base64("me:sesame") + "\r\n\r\n";
  EXPECT_THAT(served.Ask(start + basic), EndsWith("http://me:sesame@host.docker.internal"));
}

TEST_F(TokenBearer, IsNotAdmittedWithAnotherToken) {
  const Served served(Hello, Options());
  for (const char* field : {"Bearer other", "Bearer sesame2", "Basic c2VzYW1l", "Basic !", "sesame",
                            "Bearer", "Digest sesame"}) {
    const std::string refusal =
        Ask(served, LastGetRequest("/", "Authorization: " + std::string(field) + "\r\n"));
    EXPECT_THAT(refusal, AnyOf(StartsWith("HTTP/1.1 401"), StartsWith("HTTP/1.1 403"))) << field;
  }
  EXPECT_THAT(Ask(served, LastGetRequest("/", "Authorization: Bearer other\r\n")),
              HasSubstr("WWW-Authenticate: Bearer"));
}

TEST_F(TokenBearer, GetsLinksThatCarryAPassword) {
  const Served served([](const Request& request) { return Text(request.BaseUrl()); }, Options());
  const std::string basic = "Authorization: Basic " + Base64("me:sesame") + "\r\n";
  EXPECT_THAT(Ask(served, LastGetRequest("/", basic)),
              EndsWith("\r\n\r\nhttp://me:sesame@localhost"));
  EXPECT_THAT(Ask(served, LastGetRequest("/", "Authorization: Bearer sesame\r\n")),
              EndsWith("\r\n\r\nhttp://localhost"));
  EXPECT_THAT(served.Ask(LastGetRequest("/", basic)), EndsWith("\r\n\r\nhttp://localhost"))
      << "the own user needs no token";
}

TEST_F(TokenBearer, MayUseTheProxy) {
  const Served target(Hello);
  ServerOptions options = Options();
  options.relay.enabled = true;
  options.relay.to_this_machine = true;
  options.relay.ports = {target->port()};
  const Served served(Hello, options);
  const auto connect = [&](const std::string& password) {
    return "CONNECT localhost:" + std::to_string(target->port()) +
           " HTTP/1.1\r\nHost: localhost\r\nProxy-Authorization: Basic " +
           Base64("caip:" + password) + "\r\n\r\n" + LastGetRequest("/");
  };
  EXPECT_THAT(Ask(served, connect("sesame")), StartsWith("HTTP/1.1 200"));
  const std::string refusal = Ask(served, connect("other"));
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 407 Proxy Authentication Required\r\n"));
  EXPECT_THAT(refusal, HasSubstr("\r\nProxy-Authenticate: Basic"));
}

TEST_F(Admitted, AreNotOtherUsersOfTheProxy) {
  ServerOptions options;
  options.relay.enabled = true;
  options.relay.to_this_machine = true;
  const Served target(Hello);
  options.relay.ports = {target->port()};
  const Served served(Hello, options);
  const std::string connect = "CONNECT localhost:" + std::to_string(target->port()) +
                              " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_THAT(Ask(served, connect), StartsWith("HTTP/1.1 403"));
}

// The kernel reports root as the owner of a socket that is closed.
TEST_F(Admitted, AreNotOtherUsersWhoHangUpBeforeTheAnswer) {
  std::atomic<int> served_requests = 0;
  const Served served([&served_requests](const Request&) {
    ++served_requests;
    return Text("");
  });
  {
    const AsStranger stranger;
    for (int round = 0; round < 500; ++round) {
      RawPeer peer(served->port());
      peer.Send(GetRequest("/"));
    }
  }
  EXPECT_THAT(served.Ask(LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
  served->Stop(1000);
  EXPECT_EQ(served_requests, 1);
}

}  // namespace
}  // namespace caip::http
