// Studies that many clients use at the same time.

#include "emulator/api/optimizer/study_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"

namespace caip::api {
namespace {

const std::string kPlace = "projects/p/locations/us-central1";

/// Blocks callers of Now() on the held thread until it is released.
class HoldingClock final : public Clock {
 public:
  Instant Now() const override {
    if (std::this_thread::get_id() == held_) {
      if (!std::exchange(told_, true)) waits_.set_value();
      go_on_.wait();
    }
    return Instant(std::chrono::seconds(1'600'000'000));
  }
  void WaitUntil(Instant) override {}
  void Interrupt() override {}

  void HoldThisThread() { held_ = std::this_thread::get_id(); }
  void AwaitHeld() { waits_.get_future().wait(); }
  void LetGo() { let_go_.set_value(); }

 private:
  std::atomic<std::thread::id> held_;
  mutable bool told_ = false;
  mutable std::promise<void> waits_;
  std::promise<void> let_go_;
  std::shared_future<void> go_on_ = let_go_.get_future();
};

struct Desk {
  void Create(const std::string& id) {
    const Json study = {{"study_config",
                         {{"metrics", {{{"goal", "MINIMIZE"}, {"metric", "loss"}}}},
                          {"parameters",
                           {{{"parameter", "x"},
                             {"type", "DOUBLE"},
                             {"double_value_spec", {{"min_value", 0.0}, {"max_value", 1.0}}}}}}}}};
    const auto made = service.CreateStudy(kPlace, id, study);
    EXPECT_TRUE(made.ok()) << made.error().message;
  }
  Result<Json> Suggest(const std::string& id, int count, const std::string& client) {
    return service.Suggest(kPlace + "/studies/" + id,
                           {{"suggestion_count", count}, {"client_id", client}});
  }

  TemporaryDirectory directory;
  std::unique_ptr<StudyStore> store = *StudyStore::Open(directory.path() / "studies.db");
  HoldingClock clock;
  StudyService service{*store, clock, 7};
};

TEST(StudyService, DoesNotLetOneStudyBlockAnother) {
  Desk studies;
  studies.Create("slow");
  studies.Create("quick");
  std::thread slow([&] {
    studies.clock.HoldThisThread();
    EXPECT_TRUE(studies.Suggest("slow", 1, "a").ok());
  });
  studies.clock.AwaitHeld();  // in the midst of its suggestion
  auto quick = std::async(std::launch::async, [&] {
    EXPECT_TRUE(studies.Suggest("quick", 1, "a").ok());
    const std::string trial = kPlace + "/studies/quick/trials/1";
    EXPECT_TRUE(studies.service.Complete(trial, {{"trial_infeasible", true}}).ok());
    studies.Create("third");
    EXPECT_TRUE(studies.service.DeleteStudy(kPlace + "/studies/third").ok());
  });
  EXPECT_EQ(quick.wait_for(std::chrono::minutes(1)), std::future_status::ready)
      << "another study waits for the suggestion of the first";
  studies.clock.LetGo();
  slow.join();
}

TEST(StudyService, GivesEachOfManyClientsItsOwnTrials) {
  Desk studies;
  studies.Create("s");
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      const std::string id = std::to_string(client);
      for (int count = 1; count <= 5; ++count) EXPECT_TRUE(studies.Suggest("s", count, id).ok());
    });
  }
  for (std::thread& client : clients) client.join();
  std::map<std::string, int> trials;
  std::set<std::string> names;
  const auto listed = studies.service.ListTrials(kPlace + "/studies/s");
  for (const Json& trial : *listed) {
    names.insert(trial["name"]);
    ++trials[trial["client_id"]];
  }
  EXPECT_EQ(names.size(), 40u);
  EXPECT_TRUE(names.contains(kPlace + "/studies/s/trials/40"));
  EXPECT_EQ(trials.size(), 8u);
  EXPECT_TRUE(std::all_of(trials.begin(), trials.end(),
                          [](const auto& client) { return client.second == 5; }));
}

}  // namespace
}  // namespace caip::api
