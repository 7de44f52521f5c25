// Older objects that a restart leaves between a save and their deletion.

#include "harness/explorer/rotated_objects.h"

#include <gtest/gtest.h>

#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

/// A trainer that keeps the last two of its checkpoints. It saves each fifth step up to the 20th.
class Keeper {
 public:
  explicit Keeper(bool reports = true) : reports_(reports) {}

  void Trains(int boot, int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) {
      if (reports_) Add(Step("master-0", boot, step));
      if (step % 5 == 0) Saves(boot, step);
    }
  }
  void Saves(int boot, int64_t step) {
    Add(Storage("master-0", boot, "create", "job/out/tmp"));
    Event rename = Storage("master-0", boot, "rename", "job/out/tmp");
    BodyOf<StorageEvent>(rename).from = Name(step);
    Add(rename);
    run_.objects[Name(step)] = {"weights", 1};
    if (step > 10) Deletes(boot, step - 10);
  }
  void Deletes(int boot, int64_t step) {
    Add(Storage("master-0", boot, "delete", Name(step)));
    run_.objects.erase(Name(step));
  }
  // Takes back what was done since the save of the step, so that the machine is lost after it.
  CrashPoint IsLostAfterSaveOf(int64_t step, bool is_deleted = false) {
    while (!IsSaveOf(step) && !(is_deleted && IsDeletion())) run_.events.pop_back();
    const CrashPoint point{.replica = "master-0", .events = run_.events.size()};
    Add(Exit("master-0", 1, 0, 9));
    Add(Start("master-0", 2));
    return point;
  }
  void Add(Event event) { run_.events.push_back(std::move(event)); }
  Evidence& run() { return run_; }

  static std::string Name(int64_t step) { return "job/out/ckpt-" + std::to_string(step); }
  static Baseline Undisturbed(bool reports = true) {
    Keeper keeper(reports);
    keeper.Trains(1, 1, 20);
    return {keeper.run(), keeper.run()};
  }

 private:
  bool IsSaveOf(int64_t step) const {
    const auto* last = run_.events.back().As<StorageEvent>();
    return last && last->op == "rename" && last->from == Name(step);
  }
  bool IsDeletion() const {
    const auto* last = run_.events.back().As<StorageEvent>();
    return last && last->op == "delete";
  }

  bool reports_;
  Evidence run_;
};

TEST(RotatedObjects, AreLeftByARestartBeforeTheirDeletion) {
  for (const bool reports : {true, false}) {
    Keeper keeper(reports);
    keeper.Trains(1, 1, 20);
    const CrashPoint point = keeper.IsLostAfterSaveOf(20);
    const Baseline baseline = Keeper::Undisturbed(reports);
    EXPECT_TRUE(IsLeftByRotation(baseline, Keeper::Name(10), keeper.run(), {point})) << reports;
    EXPECT_FALSE(IsLeftByRotation(baseline, Keeper::Name(5), keeper.run(), {point})) << reports;
    EXPECT_FALSE(IsLeftByRotation(baseline, "job/out/tmp", keeper.run(), {point})) << reports;
  }
}

TEST(RotatedObjects, AreLeftByEitherOfTwoRestarts) {
  Keeper keeper;
  keeper.Trains(1, 1, 15);
  const CrashPoint first = keeper.IsLostAfterSaveOf(15);
  keeper.Trains(2, 16, 19);
  const CrashPoint second{.replica = "master-0", .events = keeper.run().events.size()};
  const Baseline baseline = Keeper::Undisturbed();
  EXPECT_TRUE(IsLeftByRotation(baseline, Keeper::Name(5), keeper.run(), {second, first}));
  EXPECT_FALSE(IsLeftByRotation(baseline, Keeper::Name(5), keeper.run(), {second}));
}

// It deletes what it has saved itself, and has forgotten all before the restart.
TEST(RotatedObjects, AreNotThoseThatATrainerForgets) {
  for (const bool reports : {true, false}) {
    Keeper keeper(reports);
    keeper.Trains(1, 1, 15);
    const CrashPoint point = keeper.IsLostAfterSaveOf(15, true);
    keeper.Trains(2, 16, 20);
    const Baseline baseline = Keeper::Undisturbed(reports);
    EXPECT_FALSE(IsLeftByRotation(baseline, Keeper::Name(10), keeper.run(), {point})) << reports;
  }
}

TEST(RotatedObjects, AreDeletedByTheReplicaThatIsRestarted) {
  Keeper keeper;
  keeper.Trains(1, 1, 20);
  CrashPoint point = keeper.IsLostAfterSaveOf(20);
  point.replica = "worker-0";
  EXPECT_FALSE(IsLeftByRotation(Keeper::Undisturbed(), Keeper::Name(10), keeper.run(), {point}));
}

TEST(RotatedObjects, AreNotWrittenAgainAtAnotherStep) {
  Keeper keeper;
  keeper.Trains(1, 1, 20);
  const CrashPoint point = keeper.IsLostAfterSaveOf(20);
  keeper.Add(Step("master-0", 2, 3));
  keeper.Add(Storage("master-0", 2, "create", Keeper::Name(10)));
  EXPECT_FALSE(IsLeftByRotation(Keeper::Undisturbed(), Keeper::Name(10), keeper.run(), {point}));
}

// In object storage a rename is a copy and a deletion.
TEST(RotatedObjects, AreNotObjectsThatAreRenamed) {
  const auto run = [](bool is_complete) {
    Evidence made;
    made.events = {Start("master-0", 1), Step("master-0", 1, 1)};
    made.events.push_back(Storage("master-0", 1, "create", "job/out/part-0"));
    made.events.push_back(Storage("master-0", 1, "create", "job/out/part-1"));
    Event copy = Storage("master-0", 1, "copy", "job/out/part-2");
    BodyOf<StorageEvent>(copy).from = "job/out/part-0";
    made.events.push_back(copy);
    if (is_complete) made.events.push_back(Storage("master-0", 1, "delete", "job/out/part-0"));
    for (const char* name : {"job/out/part-1", "job/out/part-2"}) made.objects[name] = {"x", 1};
    return made;
  };
  const Baseline baseline(run(true), run(true));
  const CrashPoint point{.replica = "master-0", .events = 5};
  EXPECT_FALSE(IsLeftByRotation(baseline, "job/out/part-0", run(false), {point}));
}

}  // namespace
}  // namespace caip::harness
