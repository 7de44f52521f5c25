#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

Response WhereFrom(const Request& request) {
  return Text("listener=" + request.listener + " peer=" + request.peer + ";");
}

bool CanConnect(uint16_t port) {
  return ConnectTo("127.0.0.1", std::to_string(port), std::chrono::milliseconds(5000)).ok();
}

TEST(Listeners, TellTheHandlerWhereARequestCameIn) {
  const Served served(WhereFrom);
  const auto port = served->Listen("127.0.0.1", "replica-7");
  ASSERT_TRUE(port.ok());
  EXPECT_THAT(served.Ask(LastGetRequest("/")), HasSubstr("listener= peer=127.0.0.1:"));
  EXPECT_THAT(served.Ask(LastGetRequest("/"), *port), HasSubstr("listener=replica-7 peer=127."));
}

TEST(Listeners, GuardTheHostAsTheMainOneDoes) {
  const Served served(WhereFrom);
  const auto port = served->Listen("127.0.0.1", "t");
  ASSERT_TRUE(port.ok());
  EXPECT_THAT(
      served.Ask("GET / HTTP/1.1\r\nConnection: close\r\nHost: evil.example\r\n\r\n", *port),
      StartsWith("HTTP/1.1 403"));
}

TEST(Listeners, HaveOneDoorForEachTag) {
  const Served served(WhereFrom);
  ASSERT_TRUE(served->Listen("127.0.0.1", "a").ok());
  const auto again = served->Listen("127.0.0.1", "a");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_EQ(served->Listen("127.0.0.1", "").error().code, Code::kAlreadyExists);
}

TEST(Listeners, MayBeSocketsThatOthersMadeManyOfATag) {
  const Served served(WhereFrom);
  auto first = ListenOn("127.0.0.1", 0);
  auto second = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(first.ok() && second.ok());
  const std::vector<uint16_t> ports = {LocalPort(first->get()), LocalPort(second->get())};
  served->Adopt(std::move(*first), "run");
  served->Adopt(std::move(*second), "run");
  for (const uint16_t port : ports) {
    EXPECT_THAT(served.Ask(LastGetRequest("/"), port), HasSubstr("listener=run peer=127."));
  }
  served->Unlisten("run");
  for (const uint16_t port : ports) EXPECT_FALSE(CanConnect(port));
}

TEST(Listeners, AreClosedWithTheirConnectionsWhileOthersGoOn) {
  const Served served(WhereFrom);
  const auto gone = served->Listen("127.0.0.1", "gone");
  const auto stays = served->Listen("127.0.0.1", "stays");
  ASSERT_TRUE(gone.ok() && stays.ok());
  RawPeer kept(*gone);
  kept.Send(GetRequest("/"));
  ASSERT_THAT(kept.ReadAnswer(), HasSubstr("listener=gone"));
  served->Unlisten("gone");
  EXPECT_EQ(kept.ReadToEnd(), "");
  EXPECT_FALSE(CanConnect(*gone));
  EXPECT_THAT(served.Ask(LastGetRequest("/"), *stays), HasSubstr("listener=stays"));
  EXPECT_TRUE(served->Listen("127.0.0.1", "gone").ok());
}

TEST(Listeners, EndWithTheServer) {
  const Served served(WhereFrom);
  const auto port = served->Listen("127.0.0.1", "t");
  ASSERT_TRUE(port.ok());
  served->Stop(0);
  EXPECT_FALSE(CanConnect(*port));
}

TEST(Listeners, TheMainOneCannotBeClosed) {
  const Served served(WhereFrom);
  served->Unlisten("");
  served->Unlisten("never was");
  EXPECT_THAT(served.Ask(LastGetRequest("/")), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace caip::http
