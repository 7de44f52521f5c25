#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "http/connection/tunnel.h"
#include "http/transport/certificate_authority.h"
#include "http/transport/tls.h"
#include "tests/http/http2_peer.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Response WhoAmI(const Request& request) {
  return Text(request.scheme + "://" + request.host + request.path + ";");
}

std::string Connect(const std::string& target) {
  return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

constexpr char kEstablished[] = "HTTP/1.1 200 Connection established\r\n\r\n";

// In a network of its own, which has local routes to addresses that no interface has.
TEST(OtherMachine, IsNoneThatIsOnlyRoutedHere) {
  const pid_t child = ::fork();
  if (child == 0) {
    const char* const setup =
        "ip link set lo up && ip route add local 10.99.0.0/24 dev lo && "
        "ip -6 route add local fd99::/64 dev lo";
    if (::unshare(CLONE_NEWNET) != 0 || std::system(setup) != 0) ::_exit(2);
    sockaddr_in four{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    ::inet_pton(AF_INET, "10.99.0.7", &four.sin_addr);
    ::inet_pton(AF_INET6, "fd99::9", &six.sin6_addr);
    bool is_other = IsOtherMachine(reinterpret_cast<const sockaddr&>(four)) ||
                    IsOtherMachine(reinterpret_cast<const sockaddr&>(six));
    ::inet_pton(AF_INET6, "::ffff:10.99.0.7", &six.sin6_addr);
    is_other = is_other || IsOtherMachine(reinterpret_cast<const sockaddr&>(six));
    ::_exit(is_other ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "needs the right to change a network, and `ip`";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

class Proxy : public ::testing::Test {
 protected:
  Proxy() {
    auto opened = CertificateAuthority::Open(directory_.path(), {}, clock_);
    EXPECT_TRUE(opened.ok());
    authority_ = std::move(*opened);
  }
  ServerOptions Options() const {
    ServerOptions options;
    options.tls = authority_;
    options.served_names = {"storage.googleapis.com", "metadata.google.internal"};
    return options;
  }
  // One that passes on to servers of this test.
  ServerOptions RelayingTo(uint16_t port) const {
    ServerOptions options = Options();
    options.relay.enabled = true;
    options.relay.to_this_machine = true;
    options.relay.ports = {port};
    return options;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::shared_ptr<CertificateAuthority> authority_;
};

// Reads until the peer ends.
std::string ReadAll(Socket& socket) {
  std::string all;
  char buffer[4096];
  while (true) {
    const Received received = socket.Receive(buffer, sizeof buffer);
    if (received.flow != Flow::kData) return all;
    all.append(buffer, received.count);
  }
}

TEST_F(Proxy, RefusesATunnelWithABody) {
  const Served served(WhoAmI, Options());
  for (const char* field : {"Content-Length: 3", "Transfer-Encoding: chunked"}) {
    EXPECT_THAT(served.Ask("CONNECT storage.googleapis.com:443 HTTP/1.1\r\nHost: "
                           "storage.googleapis.com:443\r\n" +
                           std::string(field) + "\r\n\r\n"),
                StartsWith("HTTP/1.1 400"))
        << field;
  }
}

TEST_F(Proxy, AnswersForServedNamesOverTls) {
  const Served served(WhoAmI, Options());
  auto socket = ConnectTo("127.0.0.1", std::to_string(served->port()), std::chrono::seconds(5));
  ASSERT_TRUE(socket.ok());
  socket->Send(Connect("storage.googleapis.com:443"));
  char reply[sizeof kEstablished - 1];
  ASSERT_EQ(socket->Receive(reply, sizeof reply).count, sizeof reply);
  EXPECT_EQ(std::string(reply, sizeof reply), kEstablished);
  const auto context = MakeTlsClientContext(authority_->certificate_file());
  ASSERT_TRUE(context.ok());
  std::string why;
  ASSERT_EQ(socket->ConnectTls(context->get(), "storage.googleapis.com", why), Flow::kData) << why;
  socket->Send("GET /b/o HTTP/1.1\r\nHost: storage.googleapis.com\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(*socket), HasSubstr("https://storage.googleapis.com/b/o;"));
}

TEST_F(Proxy, AnswersForServedNamesInPlainHttpToo) {
  const Served served(WhoAmI, Options());
  EXPECT_THAT(served.Ask(Connect("metadata.google.internal:80") +
                         "GET / HTTP/1.1\r\nHost: metadata.google.internal\r\n"
                         "Connection: close\r\n\r\n"),
              AllOf(StartsWith(kEstablished), HasSubstr("http://metadata.google.internal/;")));
}

// As clients of gRPC do without TLS.
TEST_F(Proxy, AnswersForServedNamesInPlainHttp2Too) {
  const Served served(WhoAmI, Options());
  Http2Peer peer(served->port());
  peer.SendBytes(Connect("storage.googleapis.com:443"));
  EXPECT_EQ(peer.ReceiveBytes(sizeof kEstablished - 1), kEstablished);
  const auto ask = [&](const std::string& authority) {
    return peer.Ask(Http2Peer::Head("GET", "/b/o", {}, authority));
  };
  EXPECT_EQ(ask("storage.googleapis.com").body, "http://storage.googleapis.com/b/o;");
  EXPECT_EQ(ask("storage.googleapis.com:443").status(), "200");
  EXPECT_EQ(ask("evil.example").status(), "403");
}

TEST_F(Proxy, GuardsTheRequestInside) {
  const Served served(WhoAmI, Options());
  EXPECT_THAT(served.Ask(Connect("storage.googleapis.com:443") +
                         "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
              HasSubstr("HTTP/1.1 403"));
}

TEST_F(Proxy, TakesTheHostFromAWholeUrl) {
  const Served served(WhoAmI, Options());
  const auto ask = [&](const std::string& url, const std::string& host) {
    return served.Ask("GET " + url + " HTTP/1.1\r\nConnection: close\r\nHost: " + host +
                      "\r\n\r\n");
  };
  EXPECT_THAT(ask("http://metadata.google.internal/computeMetadata/v1/", "localhost"),
              HasSubstr("http://metadata.google.internal/computeMetadata/v1/;"));
  EXPECT_THAT(ask("http://evil.example/", "localhost"),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("no_proxy")));
}

TEST_F(Proxy, RefusesOtherNamesUnlessItRelays) {
  const Served served(WhoAmI, Options());
  EXPECT_THAT(served.Ask(Connect("example.com:443")), StartsWith("HTTP/1.1 403"));
}

TEST_F(Proxy, RelaysToNoOtherPortAndNotToThisMachine) {
  ServerOptions options = Options();
  options.relay.enabled = true;
  const Served served(WhoAmI, options);
  const std::string targets[] = {"example.com:22",         "127.0.0.1:443", "localhost:443",
                                 "169.254.169.254:443",    "[::1]:443",     "0.0.0.0:443",
                                 "[::ffff:127.0.0.1]:443", "127.1:443",     "[fe80::1]:443",
                                 "224.0.0.1:443",          "2130706433:443"};
  for (const std::string& target : targets) {
    EXPECT_THAT(served.Ask(Connect(target)), StartsWith("HTTP/1.1 403")) << target;
  }
}

TEST_F(Proxy, RefusesDestinationsThatAreNone) {
  const Served served(WhoAmI, Options());
  for (const char* target : {"example.com", ":443", "example.com:", "example.com:x", "a:b:443",
                             "example.com:99999", "[::1:443", "/path", "example.com:0"}) {
    EXPECT_THAT(served.Ask(Connect(target)), StartsWith("HTTP/1.1 400")) << target;
  }
}

TEST_F(Proxy, PassesBytesBothWaysUntilBothSidesHaveEnded) {
  const Served target(WhoAmI);
  const Served served(WhoAmI, RelayingTo(target->port()));
  RawPeer peer(served->port());
  peer.Send(Connect("127.0.0.1:" + std::to_string(target->port())) + GetRequest("/early"));
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), kEstablished);
  EXPECT_THAT(peer.ReadAnswer(), HasSubstr("http://localhost/early;"));
  peer.Send(LastGetRequest("/late"));
  EXPECT_THAT(peer.ReadToEnd(), HasSubstr("http://localhost/late;"));
}

// Answers only when the client has sent everything and said so.
TEST_F(Proxy, KeepsOneDirectionOpenWhenTheOtherHasEnded) {
  auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  const uint16_t port = LocalPort(listener->get());
  std::thread counter([&] {
    Socket socket(Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)));
    socket.Send(std::to_string(ReadAll(socket).size()));
  });
  const Served served(WhoAmI, RelayingTo(port));
  RawPeer peer(served->port());
  peer.Send(Connect("127.0.0.1:" + std::to_string(port)));
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), kEstablished);
  peer.Send(std::string(3'000'000, 'x'));
  peer.EndWrites();
  EXPECT_EQ(peer.ReadToEnd(), "3000000");
  counter.join();
}

TEST_F(Proxy, SaysWhenTheHostCannotBeReached) {
  uint16_t closed = 0;
  {
    const auto listener = ListenOn("127.0.0.1", 0);
    ASSERT_TRUE(listener.ok());
    closed = LocalPort(listener->get());
  }
  const Served served(WhoAmI, RelayingTo(closed));
  EXPECT_THAT(served.Ask(Connect("127.0.0.1:" + std::to_string(closed))),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("Cannot reach")));
}

TEST_F(Proxy, EndsItsRelaysWithTheServer) {
  const Served target(WhoAmI);
  const Served served(WhoAmI, RelayingTo(target->port()));
  RawPeer peer(served->port());
  peer.Send(Connect("127.0.0.1:" + std::to_string(target->port())));
  peer.ReadUntil("\r\n\r\n");
  peer.EndWrites();  // half closed: nothing more wakes it from this side
  served->Stop(0);
  EXPECT_EQ(peer.ReadToEnd(), "");
}

TEST_F(Proxy, EndsARelayThatIsSilent) {
  const Served target(WhoAmI);
  ServerOptions options = RelayingTo(target->port());
  options.relay.idle_seconds = 1;
  const Served served(WhoAmI, options);
  RawPeer peer(served->port());
  peer.Send(Connect("127.0.0.1:" + std::to_string(target->port())));
  peer.ReadUntil("\r\n\r\n");
  EXPECT_EQ(peer.ReadToEnd(), "");
}

// Two of ours in a row: the first is the machine's proxy to the second.
TEST_F(Proxy, GoesThroughTheMachinesOwnProxyWhereThereIsOne) {
  const Served target(WhoAmI);
  const Served upstream(WhoAmI, RelayingTo(target->port()));
  ServerOptions options = RelayingTo(target->port());
  options.relay.upstream = "http://127.0.0.1:" + std::to_string(upstream->port());
  const Served served(WhoAmI, options);
  const std::string connect = Connect("127.0.0.1:" + std::to_string(target->port()));
  EXPECT_THAT(served.Ask(connect + LastGetRequest("/far")), HasSubstr("http://localhost/far;"));
  upstream->Stop(0);
  EXPECT_THAT(served.Ask(connect), StartsWith("HTTP/1.1 502"));
}

TEST_F(Proxy, TellsWhatTheMachinesProxySays) {
  const Served target(WhoAmI);
  const Served upstream(WhoAmI);  // relays to nobody
  ServerOptions options = RelayingTo(target->port());
  options.relay.upstream = "http://127.0.0.1:" + std::to_string(upstream->port());
  const Served served(WhoAmI, options);
  const std::string port = std::to_string(target->port());
  EXPECT_THAT(served.Ask(Connect("127.0.0.1:" + port)),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("403 Forbidden")));
  options.relay.upstream_exempt = "10.0.0.1, 127.0.0.1";
  const Served direct(WhoAmI, options);
  EXPECT_THAT(direct.Ask(Connect("127.0.0.1:" + port) + LastGetRequest("/near")),
              HasSubstr("http://localhost/near;"));
}

TEST(Destination, IsANameOrAnAddressAndAPort) {
  EXPECT_EQ(ParseDestination("Name.example:443")->host, "name.example");
  EXPECT_EQ(ParseDestination("10.0.0.1:65535")->port, 65535);
  EXPECT_EQ(ParseDestination("[::1]:443")->host, "::1");
  EXPECT_EQ(ParseDestination("[fe80::1%eth0]:443")->host, "fe80::1%eth0");
  const std::string_view none[] = {
      "name",        ":443",           "name:0",           "name:65536",
      "name:443x",   "::1:443",        "[]:443",           "[:443",
      "]:443",       "[[::1]:443",     "[name]:443",       "[::1]]:443",
      "a b:443",     "a\n:443",        "a/b:443",          "user@name:443",
      "n\xffme:443", "[::1\xff]:443",  "[10.0.0.1]:1",     "[::1 ]:443",
      "%[::1]:443",  {"a\0.b:443", 8}, {"[::1\0]:443", 10}};
  for (const std::string_view text : none) EXPECT_FALSE(ParseDestination(text)) << text;
}

TEST(ProxyAddress, IsReadFromAUrlOrAPlace) {
  const auto whole = ParseProxyAddress("http://user:p%40ss@proxy.corp:3128/");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->host, "proxy.corp");
  EXPECT_EQ(whole->port, "3128");
  EXPECT_EQ(whole->authorization, "Basic dXNlcjpwQHNz");
  EXPECT_EQ(ParseProxyAddress("[::1]:8080")->host, "::1");
  EXPECT_EQ(ParseProxyAddress("proxy")->port, "80");
  for (const char* none : {"", "https://proxy:443", "socks5://proxy", "http://:80"}) {
    EXPECT_FALSE(ParseProxyAddress(none)) << none;
  }
}

TEST(ProxyAddress, IsNotForExemptHosts) {
  EXPECT_TRUE(IsProxyExempt("a.corp.example", "localhost, .corp.example"));
  EXPECT_TRUE(IsProxyExempt("corp.example", "*.corp.example"));
  EXPECT_TRUE(IsProxyExempt("Whatever", "*"));
  EXPECT_FALSE(IsProxyExempt("evilcorp.example", "corp.example"));
  EXPECT_FALSE(IsProxyExempt("a.example", ""));
}

TEST(ProxyAddress, NamesOfThisMachineAreKnownWithoutLookingThemUp) {
  for (const char* name : {"localhost", "LOCALHOST.", "x.localhost", "127.1", "::1", "2130706433",
                           "169.254.169.254", "0"}) {
    EXPECT_TRUE(NamesThisMachine(name)) << name;
  }
  for (const char* name : {"example.com", "example.com.", "8.8.8.8", "nolocalhost"}) {
    EXPECT_FALSE(NamesThisMachine(name)) << name;
  }
}

bool Elsewhere(const std::string& text) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    return IsOtherMachine(reinterpret_cast<const sockaddr&>(four));
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr), 1) << text;
  return IsOtherMachine(reinterpret_cast<const sockaddr&>(six));
}

TEST(IsOtherMachine, TellsOtherMachinesFromThisOneAndItsLink) {
  for (const char* address : {"127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "169.254.169.254",
                              "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "ff02::1",
                              "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"}) {
    EXPECT_FALSE(Elsewhere(address)) << address;
  }
  for (const char* address : {"8.8.8.8", "10.0.0.1", "192.168.1.1", "169.253.1.1", "223.1.1.1",
                              "2001:db8::1", "::ffff:8.8.8.8", "fd00::1"}) {
    EXPECT_TRUE(Elsewhere(address)) << address;
  }
}

TEST(IsOtherMachine, IsFalseForTheAddressesOfAllInterfaces) {
  ifaddrs* interfaces = nullptr;
  ASSERT_EQ(::getifaddrs(&interfaces), 0);
  for (const ifaddrs* at = interfaces; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    EXPECT_FALSE(IsOtherMachine(*at->ifa_addr)) << at->ifa_name;
    if (at->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    const auto& four = reinterpret_cast<const sockaddr_in&>(*at->ifa_addr).sin_addr;
    ::inet_ntop(AF_INET, &four, text, sizeof text);
    EXPECT_FALSE(Elsewhere("::ffff:" + std::string(text))) << at->ifa_name;
  }
  ::freeifaddrs(interfaces);
}

}  // namespace
}  // namespace caip::http
