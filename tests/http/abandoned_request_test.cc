// Handlers learn that nobody waits for their answer.

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/abandoned_work.h"
#include "base/clock.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

// A handler at work without an end, which asks for itself whether anybody waits for it.
class EndlessWork {
 public:
  Handler handler() {
    return [this](const Request&) {
      begun_.set_value();
      const auto limit = MonotonicNow() + std::chrono::seconds(30);
      while (!IsWorkAbandoned() && MonotonicNow() < limit) std::this_thread::yield();
      ended_.set_value(MonotonicNow() < limit);
      return Text("nobody reads this");
    };
  }
  void AwaitBegin() { begun_.get_future().wait(); }
  bool AwaitAbandonment() { return ended_.get_future().get(); }

 private:
  std::promise<void> begun_;
  std::promise<bool> ended_;
};

TEST(AbandonedRequest, StopsWhenItsClientHasGone) {
  EndlessWork work;
  const Served served(work.handler());
  {
    RawPeer peer(served->port());
    peer.Send(GetRequest("/"));
    work.AwaitBegin();
  }
  EXPECT_TRUE(work.AwaitAbandonment());
}

TEST(AbandonedRequest, StopsWhenTheServerStops) {
  EndlessWork work;
  const Served served(work.handler());
  RawPeer peer(served->port());
  peer.Send(GetRequest("/"));
  work.AwaitBegin();
  served->Stop(0);
  EXPECT_TRUE(work.AwaitAbandonment());
}

TEST(AbandonedRequest, StopsWhileItsAnswerIsWritten) {
  std::promise<void> begun;
  std::promise<bool> abandoned;
  const Served served([&](const Request&) {
    Response response = Text("");
    response.write_body = [&](const Response::Sink& sink) {
      sink("first");
      begun.set_value();
      const auto limit = MonotonicNow() + std::chrono::seconds(30);
      while (!IsWorkAbandoned() && MonotonicNow() < limit) std::this_thread::yield();
      abandoned.set_value(MonotonicNow() < limit);
    };
    return response;
  });
  {
    RawPeer peer(served->port());
    peer.Send(GetRequest("/"));
    begun.get_future().wait();
  }
  EXPECT_TRUE(abandoned.get_future().get());
}

}  // namespace
}  // namespace caip::http
