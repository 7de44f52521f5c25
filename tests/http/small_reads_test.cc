#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "http/scheduling.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

constexpr int kMany = 64;  // small reads in a row

// Answers with the policy of the connection's thread. Answers to /large/ are large.
Response Policy(const Request& request) {
  Response response = Text(::sched_getscheduler(0) == SCHED_BATCH ? "batch" : "usual");
  if (request.path == "/large") response.body.resize((64 << 10) + 1);
  return response;
}

class SmallReads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "the test has another policy";
  }

  std::string Ask(const std::string& request) {
    EXPECT_TRUE(peer_.Send(request));
    const std::string answer = peer_.ReadAnswer();
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  std::string Read(const std::string& path = "/") { return Ask(GetRequest(path)); }
  std::string Write() {
    return Ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  }
  void ReadMany() {
    for (int i = 0; i < kMany; ++i) ASSERT_EQ(Read(), "usual") << i;
  }

  Served served_{Policy};
  RawPeer peer_{served_->port()};
};

TEST_F(SmallReads, MakeTheirThreadOneForBatches) {
  ReadMany();
  EXPECT_EQ(Read(), "batch");
  EXPECT_EQ(Read(), "batch");
  RawPeer other(served_->port());
  other.Send(GetRequest("/"));
  EXPECT_NE(other.ReadAnswer().find("usual"), std::string::npos) << "another connection";
}

TEST_F(SmallReads, EndWithAWriteBeforeItIsHandled) {
  ReadMany();
  ASSERT_EQ(Read(), "batch");
  EXPECT_EQ(Write(), "usual");
  ReadMany();
  EXPECT_EQ(Read(), "batch");
}

TEST_F(SmallReads, AreInARow) {
  for (int i = 0; i < 3 * kMany; ++i) {
    ASSERT_EQ(i % kMany == kMany - 1 ? Write() : Read(), "usual") << i;
  }
}

TEST_F(SmallReads, EndWithALargeAnswer) {
  ReadMany();
  ASSERT_EQ(Read("/large").substr(0, 5), "batch") << "its size is known after it was handled";
  ReadMany();
}

// A policy that a person chose for the program stays.
TEST_F(SmallReads, KeepThePolicyThatTheThreadBeganWith) {
  std::thread([&] {
    const sched_param priority{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &priority), 0);
    const Served served(Policy);
    RawPeer peer(served->port());
    for (int i = 0; i < kMany + 1; ++i) {
      peer.Send(GetRequest("/"));
      ASSERT_NE(peer.ReadAnswer().find("batch"), std::string::npos);
    }
    peer.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(peer.ReadUntil("\r\n\r\n"), "");
    peer.Send(LastGetRequest("/"));
    EXPECT_NE(peer.ReadToEnd().find("batch"), std::string::npos);
  }).join();
}

TEST(ScheduleAsUsual, ChangesThreadsForBatchesOnly) {
  std::thread([] {
    const sched_param priority{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &priority), 0);
    ScheduleAsUsual();
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
    ASSERT_EQ(::sched_setscheduler(0, SCHED_IDLE, &priority), 0);
    ScheduleAsUsual();
    EXPECT_EQ(::sched_getscheduler(0), SCHED_IDLE);
  }).join();
}

}  // namespace
}  // namespace caip::http
