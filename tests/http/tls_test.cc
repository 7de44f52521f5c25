#include "http/transport/tls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "http/client.h"
#include "http/transport/certificate_authority.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Response Scheme(const Request& request) {
  if (request.path == "/big") {
    Response response;
    response.write_body = [](const Response::Sink& sink) {
      for (int i = 0; i < 64 && sink(std::string(100'000, static_cast<char>('a' + i % 26))); ++i) {
      }
    };
    return response;
  }
  const auto body = request.ReadBody(64 << 20);
  if (!body.ok()) return JsonResponse(400, body.error().message);
  return Text(request.scheme + " " + request.host + " [" + *body + "]");
}

class Tls : public ::testing::Test {
 protected:
  Tls() {
    auto opened = CertificateAuthority::Open(directory_.path() / "ca", {}, clock_);
    EXPECT_TRUE(opened.ok());
    authority_ = std::move(*opened);
  }
  ServerOptions Options() const {
    ServerOptions options;
    options.tls = authority_;
    options.served_names = {"storage.googleapis.com", "*.storage.googleapis.com"};
    return options;
  }
  Client ClientOf(const Served& served, const std::string& host = "127.0.0.1") const {
    return Client("https://" + host + ":" + std::to_string(served->port()),
                  authority_->certificate_file());
  }
  // A connection that has shaken hands as for `name`.
  Socket Connected(uint16_t port, const std::string& name, std::string& why) const {
    auto context = MakeTlsClientContext(authority_->certificate_file());
    auto socket = ConnectTo("127.0.0.1", std::to_string(port), std::chrono::seconds(5));
    if (!context.ok() || !socket.ok()) return {};
    if (socket->ConnectTls(context->get(), name, why) != Flow::kData) return {};
    return std::move(*socket);
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::shared_ptr<CertificateAuthority> authority_;
};

TEST_F(Tls, IsSpokenOnTheSamePortAsPlainHttp) {
  const Served served(Scheme, Options());
  EXPECT_THAT(served.Ask(LastGetRequest("/")), HasSubstr("http localhost"));
  Client client = ClientOf(served);
  const auto response = client.Send({.target = "/"});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(response->body, StartsWith("https 127.0.0.1:"));
}

TEST_F(Tls, CarriesBodiesBothWaysAndKeepsTheConnection) {
  const Served served(Scheme, Options());
  Client client = ClientOf(served, "localhost");
  const std::string body(5'000'000, 'u');
  for (int i = 0; i < 3; ++i) {
    const auto sent = client.Send({.method = "POST", .target = "/", .body = body});
    ASSERT_TRUE(sent.ok()) << sent.error().message;
    EXPECT_EQ(sent->body.size(), body.size() + std::string("https localhost:12345 []").size());
    const auto big = client.Send({.target = "/big"});
    ASSERT_TRUE(big.ok()) << big.error().message;
    EXPECT_EQ(big->body.size(), 6'400'000u);
  }
  EXPECT_EQ(served->total_requests(), 6u);
}

TEST_F(Tls, ShowsEachServedNameItsOwnCertificateAndOthersTheDefault) {
  const Served served(Scheme, Options());
  std::string why;
  for (const char* name : {"storage.googleapis.com", "b.storage.googleapis.com", "localhost"}) {
    EXPECT_TRUE(Connected(served->port(), name, why).valid()) << name << ": " << why;
  }
  EXPECT_FALSE(Connected(served->port(), "mail.example", why).valid());
  EXPECT_THAT(why, HasSubstr("mismatch"));
}

TEST_F(Tls, IsNotTrustedByClientsWithoutItsCertificate) {
  const Served served(Scheme, Options());
  TemporaryDirectory other;
  const auto stranger = CertificateAuthority::Open(other.path(), {}, clock_);
  ASSERT_TRUE(stranger.ok());
  Client client("https://localhost:" + std::to_string(served->port()),
                (*stranger)->certificate_file());
  const auto response = client.Send({.target = "/"});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::kUnavailable);
}

TEST_F(Tls, ReportsAClientThatRejectsTheCertificate) {
  const auto stranger = CertificateAuthority::Open(directory_.path() / "stranger", {}, clock_);
  ASSERT_TRUE(stranger.ok());
  std::promise<CertificateRejection> reported;
  ServerOptions options = Options();
  options.on_certificate_rejected = [&](const CertificateRejection& rejection) {
    reported.set_value(rejection);
  };
  const Served served(Scheme, options);
  RawPeer plain(served->port());  // closes without an alert: no rejection
  plain.Send("\x16");
  auto socket = ConnectTo("127.0.0.1", std::to_string(served->port()), std::chrono::seconds(5));
  ASSERT_TRUE(socket.ok());
  ASSERT_EQ(socket->Send("CONNECT storage.googleapis.com:443 HTTP/1.1\r\n"
                         "Host: storage.googleapis.com:443\r\nUser-Agent: TSL\r\n\r\n"),
            Flow::kData);
  char answer[256];
  ASSERT_EQ(socket->Receive(answer, sizeof answer).flow, Flow::kData);
  auto context = MakeTlsClientContext((*stranger)->certificate_file());
  ASSERT_TRUE(context.ok());
  std::string why;
  EXPECT_NE(socket->ConnectTls(context->get(), "storage.googleapis.com", why), Flow::kData);
  auto report = reported.get_future();
  ASSERT_EQ(report.wait_for(std::chrono::seconds(30)), std::future_status::ready)
      << "awaited the report of the rejection";
  const CertificateRejection rejection = report.get();
  EXPECT_EQ(rejection.alert, "unknown_ca");
  EXPECT_EQ(rejection.server_name, "storage.googleapis.com");
  EXPECT_EQ(rejection.user_agent, "TSL");
  EXPECT_THAT(rejection.peer, StartsWith("127.0.0.1:"));
}

TEST_F(Tls, GuardsHostAndOriginAsPlainHttpDoes) {
  const Served served(Scheme, Options());
  Client client = ClientOf(served);
  const auto status = [&](const char* name, const std::string& value) {
    ClientRequest request{.target = "/"};
    request.headers.Add(name, value);
    const auto response = client.Send(request);
    return response.ok() ? response->status : 0;
  };
  const std::string port = ":" + std::to_string(served->port());
  EXPECT_EQ(status("Host", "bucket.storage.googleapis.com"), 200);
  EXPECT_EQ(status("Host", "evil.example"), 403);
  EXPECT_EQ(status("Origin", "https://127.0.0.1" + port), 200);
  EXPECT_EQ(status("Origin", "http://127.0.0.1" + port), 403);
}

TEST_F(Tls, SendsFilesToo) {
  const Path path = directory_.path() / "file";
  const std::string bytes(3'000'000, 'f');
  ASSERT_TRUE(WriteFile(path, bytes).ok());
  auto slice = std::make_shared<FileSlice>();
  slice->descriptor = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  slice->length = bytes.size();
  const Served served(
      [&](const Request&) {
        Response response;
        response.file = slice;
        return response;
      },
      Options());
  Client client = ClientOf(served);
  for (int i = 0; i < 2; ++i) {
    const auto response = client.Send({.target = "/"});
    ASSERT_TRUE(response.ok());
    EXPECT_TRUE(response->body == bytes);
  }
  EXPECT_EQ(client.Send({.method = "HEAD"})->body, "");
}

TEST_F(Tls, ClosesOnWhatOnlyBeginsLikeIt) {
  const Served served(Scheme, Options());
  EXPECT_THAT(served.Ask("\x16nonsense, not a record\r\n\r\n"), Not(HasSubstr("HTTP")));
  EXPECT_THAT(served.Ask(LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
}

TEST_F(Tls, EndsAHandshakeThatDawdles) {
  ServerOptions options = Options();
  options.head_seconds = 1;
  const Served served(Scheme, options);
  EXPECT_EQ(served.Ask("\x16\x03\x01"), "");
}

TEST_F(Tls, IsNotSpokenWithoutCertificates) {
  const Served served(Scheme);
  EXPECT_THAT(served.Ask("\x16\x03\x01\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(Tls, EndsWithTheServerWhateverItsConnectionsDo) {
  const Served served(Scheme, Options());
  std::string why;
  Socket idle = Connected(served->port(), "localhost", why);
  ASSERT_TRUE(idle.valid()) << why;
  RawPeer half(served->port());
  half.Send("\x16");
  served->Stop(5000);
  char byte;
  EXPECT_EQ(idle.Receive(&byte, 1).flow, Flow::kEnd);
  EXPECT_EQ(half.ReadToEnd(), "");
}

}  // namespace
}  // namespace caip::http
