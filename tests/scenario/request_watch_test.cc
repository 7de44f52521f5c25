// Calls of the job API, as the fault injector takes them.

#include "emulator/scenario/watch/request_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "harness/simulation/manual_clock.h"

namespace caip::scenario {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr std::chrono::seconds kDeadline{30};

harness::Event OfMaster(harness::Event::Body body) {
  return {.replica = "master-0", .boot = 1, .body = std::move(body)};
}

class WatchedCalls : public ::testing::Test {
 protected:
  ~WatchedCalls() override { injector_.End(); }

  /// The status of the answer to a call that came to this listener.
  std::future<int> Call(const std::string& listener) {
    return std::async(std::launch::async, [this, listener] {
      http::Request request;
      request.method = "GET";
      request.path = "/v1/projects/p/jobs/j";
      request.listener = listener;
      return handler_(request).status;
    });
  }

  std::vector<std::string> Reported() const {
    std::vector<std::string> reported;
    for (const harness::Event& event : injector_.events()) reported.push_back(Describe(event));
    return reported;
  }

  harness::ManualClock clock_{Instant{}};
  harness::FaultInjector injector_{{}, clock_};
  MachineCallers machines_;
  http::Handler handler_ = WithCallers(WatchedJobApi(
                                           [](const http::Request&) {
                                             http::Response done;
                                             done.status = 200;
                                             return done;
                                           },
                                           injector_),
                                       machines_);
};

TEST_F(WatchedCalls, OfAReplicaWaitUntilItIsUpAndItsJobRuns) {
  injector_.Report(OfMaster(harness::StartEvent{}));
  auto status = Call("p/j//master-replica-0");
  EXPECT_EQ(status.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_.Report(OfMaster(harness::LiveEvent{}));
  EXPECT_EQ(status.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_.Report({.body = harness::StateEvent{"RUNNING"}});
  ASSERT_EQ(status.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(status.get(), 200);
  EXPECT_THAT(Reported(), ElementsAre("boot 1 of master-0", "boot 1 of master-0 is up",
                                      "state RUNNING", "call of projects.jobs.get of master-0"));
}

TEST_F(WatchedCalls, OfOtherClientsDoNotWait) {
  injector_.Report(OfMaster(harness::StartEvent{}));
  auto status = Call("");
  ASSERT_EQ(status.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(status.get(), 200);
}

TEST_F(WatchedCalls, OfADeadReplicaAreRefused) {
  injector_.Report(OfMaster(harness::StartEvent{}));
  auto status = Call("p/j//master-replica-0");
  injector_.ReportProcessesDead("master-0", 1);
  ASSERT_EQ(status.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(status.get(), 503);
}

}  // namespace
}  // namespace caip::scenario
