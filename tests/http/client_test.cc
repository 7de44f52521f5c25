#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "http/transport/endpoint.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;

class Zeros final : public BodyReader {
 public:
  explicit Zeros(uint64_t left) : left_(left) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    size = static_cast<size_t>(std::min<uint64_t>(size, left_));
    std::fill_n(buffer, size, '0');
    left_ -= size;
    return size;
  }

 private:
  uint64_t left_;
};

std::unique_ptr<Server> MustStart(Handler handler, ServerOptions options = {}) {
  auto server = Server::Start(std::move(options), std::move(handler));
  EXPECT_TRUE(server.ok());
  return std::move(*server);
}

std::string BaseOf(const Server& server) {
  return "http://127.0.0.1:" + std::to_string(server.port());
}

// Counts the bytes of the body without keeping them.
Response Count(const Request& request) {
  std::vector<char> buffer(1 << 16);
  uint64_t total = 0;
  while (true) {
    const auto count = request.body->Read(buffer.data(), buffer.size());
    if (!count.ok() || *count == 0) break;
    total += *count;
  }
  return JsonResponse(200, request.method + " " + std::to_string(total));
}

TEST(Client, SendsTheUserinfoOfItsBaseAndDoesNotShowIt) {
  const auto server = MustStart([](const Request& request) {
    return JsonResponse(200,
                        std::string(request.headers.Get("Authorization")) + " " + request.host);
  });
  const std::string authority = "127.0.0.1:" + std::to_string(server->port());
  Client client("http://caip:p%40ss@" + authority);
  EXPECT_EQ(client.Send({.target = "/"})->body, "Basic Y2FpcDpwQHNz " + authority);
  EXPECT_EQ(client.base(), "http://" + authority);
  ClientRequest own{.target = "/"};
  own.headers.Set("Authorization", "Bearer other");
  EXPECT_EQ(client.Send(own)->body, "Bearer other " + authority);
}

TEST(Client, SendsAndReceives) {
  const auto server = MustStart(Count);
  Client client(BaseOf(*server));
  const auto got = client.Send({.target = "/x"});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "GET 0");
  EXPECT_EQ(client.Send({.method = "POST", .target = "/x", .body = "12345"})->body, "POST 5");
  EXPECT_EQ(client.Send({.method = "HEAD", .target = "/x"})->body, "");
  EXPECT_EQ(server->total_requests(), 3u);
}

TEST(Client, StreamsABodyUp) {
  const auto server = MustStart(Count);
  Client client(BaseOf(*server));
  Zeros zeros(50'000'000);
  const auto got = client.Send(
      {.method = "PUT", .target = "/x", .body_reader = &zeros, .body_size = 50'000'000});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->body, "PUT 50000000");
}

Response Stream(int64_t length) {
  Response response;
  response.content_length = length;
  response.write_body = [](const Response::Sink& sink) {
    const std::string piece(100'000, 'p');
    for (int i = 0; i < 100; ++i) {
      if (!sink(piece)) return;
    }
  };
  return response;
}

TEST(Client, StreamsABodyDownWithAndWithoutLength) {
  for (const int64_t length : {int64_t{-1}, int64_t{10'000'000}}) {
    const auto server = MustStart([&](const Request&) { return Stream(length); });
    Client client(BaseOf(*server));
    uint64_t total = 0;
    const auto got = client.Send({.target = "/"}, [&](std::string_view piece) {
      total += piece.size();
      return true;
    });
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(total, 10'000'000u);
    EXPECT_EQ(got->body, "");
  }
}

TEST(Client, StopsWhenTheSinkHasEnough) {
  const auto server = MustStart([&](const Request&) { return Stream(-1); });
  Client client(BaseOf(*server));
  int pieces = 0;
  ASSERT_TRUE(client.Send({.target = "/"}, [&](std::string_view) { return ++pieces < 2; }).ok());
  EXPECT_EQ(pieces, 2);
  EXPECT_TRUE(client.Send({.target = "/"}, [](std::string_view) { return true; }).ok());
}

// A sink says that the caller has no room for a body of any size. An error may be as large.
TEST(Client, DropsTheEndOfALargeErrorForASink) {
  const auto server = MustStart([&](const Request&) {
    Response response = Stream(-1);
    response.status = 404;
    return response;
  });
  Client client(BaseOf(*server));
  const auto got = client.Send({.target = "/"}, [](std::string_view) { return true; });
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->status, 404);
  EXPECT_GT(got->body.size(), 1u << 20);
  EXPECT_LT(got->body.size(), 2u << 20);
}

TEST(Client, ConnectsAgainWhenAKeptConnectionDied) {
  auto server = MustStart(Count);
  const uint16_t port = server->port();
  Client client(BaseOf(*server));
  ASSERT_TRUE(client.Send({.target = "/"}).ok());
  server.reset();
  server = MustStart(Count, {.port = port});
  const auto got = client.Send({.method = "POST", .target = "/", .body = "abc"});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->body, "POST 3");
}

TEST(Client, SaysWhomItCannotReach) {
  auto server = MustStart(Count);
  const std::string base = BaseOf(*server);
  server.reset();
  const auto got = Client(base).Send({.target = "/"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Code::kUnavailable);
  EXPECT_THAT(got.error().message, HasSubstr(base.substr(7)));
}

TEST(Client, GivesUpOnASilentPeer) {
  auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  Client client("http://127.0.0.1:" + std::to_string(LocalPort(listener->get())));
  client.set_silence_seconds(1);
  const auto got = client.Send({.target = "/"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, Code::kDeadlineExceeded);
}

TEST(Client, RefusesABaseThatIsNone) {
  for (const char* base : {"", "localhost:80", "https://x", "http://", "http://h:port",
                           "http://h:0", "http://h:65536", "http://h:99999999999999999999"}) {
    const auto got = Client(base).Send({.target = "/"});
    ASSERT_FALSE(got.ok()) << base;
    EXPECT_EQ(got.error().code, Code::kInvalidArgument) << base;
  }
}

// The resolver keeps the low 16 bits of a number.
TEST(Client, ReachesNoOtherPortByANumberThatIsTooLarge) {
  const auto server = MustStart(Count);
  const std::string port = std::to_string(65536 + server->port());
  const auto got = Client("http://127.0.0.1:" + port).Send({.target = "/"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().message,
            "'http://127.0.0.1:" + port +
                "' is not an address of the form http://host:port with a port from 1 to 65535.");
  const auto connected = ConnectTo("127.0.0.1", port, std::chrono::seconds(5));
  ASSERT_FALSE(connected.ok());
  EXPECT_THAT(connected.error().message, HasSubstr("the port is not a number from 1 to 65535"));
  EXPECT_EQ(server->total_requests(), 0u);
}

}  // namespace
}  // namespace caip::http
