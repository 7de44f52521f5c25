#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <list>
#include <mutex>

#include "http/connection/activity.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using State = Activity::State;

Response Hello(const Request&) { return Text("hello"); }

size_t EntriesOf(const char* directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

// Handlers that stay until they are let go.
class Gate {
 public:
  Response Wait(const Request&) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    return Text("let through");
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == count; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST(Limits, RefuseAConnectionWhenAllOthersAreAtWork) {
  Gate gate;
  ServerOptions options;
  options.connections_max = 2;
  const Served served([&](const Request& request) { return gate.Wait(request); }, options);
  RawPeer first(served->port());
  RawPeer second(served->port());
  first.Send(LastGetRequest("/1"));
  second.Send(LastGetRequest("/2"));
  gate.AwaitWaiting(2);
  EXPECT_THAT(RawPeer(served->port()).ReadToEnd(), StartsWith("HTTP/1.1 503"));
  gate.Open();
  EXPECT_THAT(first.ReadToEnd(), HasSubstr("let through"));
  EXPECT_THAT(second.ReadToEnd(), HasSubstr("let through"));
  EXPECT_THAT(served.Ask(LastGetRequest("/3")), HasSubstr("let through"));
}

TEST(Limits, CloseAnIdleConnectionForANewOne) {
  ServerOptions options;
  options.connections_max = 2;
  const Served served(Hello, options);
  RawPeer half(served->port());
  RawPeer used(served->port());
  half.Send("GET / HT");
  used.Send(GetRequest("/"));
  used.ReadAnswer();
  EXPECT_THAT(served.Ask(LastGetRequest("/new")), HasSubstr("hello"));
  EXPECT_EQ(half.ReadToEnd(), "") << "the one that never asked goes first";
  used.Send(LastGetRequest("/"));
  EXPECT_THAT(used.ReadToEnd(), HasSubstr("hello"));
}

TEST(Limits, HoldAgainstThousandsOfHalfOpenConnections) {
  ServerOptions options;
  options.connections_max = 50;
  const Served served(Hello, options);
  served.Ask(LastGetRequest("/first"));
  const size_t descriptors = EntriesOf("/proc/self/fd");
  {
    std::list<RawPeer> crowd;
    for (int i = 0; i < 3000; ++i) {
      if (crowd.size() == 300) crowd.pop_front();  // its other end is closed long since
      crowd.emplace_back(served->port()).Send("POST / HTTP/1.1\r\nHost: loc");
      if (i % 500 == 499) {
        EXPECT_THAT(served.Ask(LastGetRequest("/")), HasSubstr("hello")) << "after " << i;
      }
    }
    EXPECT_LE(EntriesOf("/proc/self/task"), 50u + 10u);
  }
  EXPECT_THAT(served.Ask(LastGetRequest("/last")), HasSubstr("hello"));
  served->Stop(10'000);
  EXPECT_LE(EntriesOf("/proc/self/fd"), descriptors);
}

TEST(Limits, EndAHeaderThatComesInDrops) {
  ServerOptions options;
  options.head_seconds = 1;
  const Served served(Hello, options);
  RawPeer peer(served->port());
  peer.Send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 1'000'000 && peer.Send("X: y\r\n"); ++i) {
    if (i == 100) {  // the rest waits, as one who hopes to be waited for
      EXPECT_THAT(peer.ReadToEnd(), StartsWith("HTTP/1.1 408"));
      return;
    }
  }
  FAIL() << "the server let the header go on";
}

TEST(Limits, LetAConnectionBeIdleForLongerThanAHeaderMayTake) {
  ServerOptions options;
  options.idle_seconds = 60;
  options.head_seconds = 1;
  const Served served(Hello, options);
  RawPeer peer(served->port());
  peer.Send(GetRequest("/"));
  peer.ReadAnswer();
  RawPeer clock(served->port());  // ends once a whole header is late: more than a second from now
  clock.Send("GET");
  EXPECT_THAT(clock.ReadToEnd(), StartsWith("HTTP/1.1 408"));
  peer.Send(LastGetRequest("/"));
  EXPECT_THAT(peer.ReadToEnd(), HasSubstr("hello"));
}

using std::chrono::seconds;

TEST(Idleness, IsNoneAtWork) {
  Activity activity;
  const auto later = std::chrono::steady_clock::now() + seconds(3600);
  for (const State state : {State::kWorking, State::kRelaying}) {
    activity.Enter(state);
    EXPECT_FALSE(activity.Idleness(later)) << static_cast<int>(state);
  }
}

TEST(Idleness, OfOneThatNeverAskedCountsForMore) {
  const Activity fresh;
  Activity idle;
  idle.Enter(State::kIdle);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_GT(fresh.Idleness(now + seconds(1)), idle.Idleness(now + seconds(10)));
  EXPECT_LT(fresh.Idleness(now + seconds(1)), idle.Idleness(now + seconds(20)));
}

TEST(Idleness, OfABodyThatComesInDropsIsSeen) {
  Activity slow;
  slow.Enter(State::kReading);
  slow.CountBodyBytes(1000);
  Activity fast;
  fast.Enter(State::kReading);
  fast.CountBodyBytes(1'000'000);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(slow.Idleness(now + seconds(5))) << "too early to tell";
  EXPECT_TRUE(slow.Idleness(now + seconds(30)));
  EXPECT_FALSE(fast.Idleness(now + seconds(30)));
}

}  // namespace
}  // namespace caip::http
