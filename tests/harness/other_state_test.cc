// Artefacts that belong to another state than those beside them.

#include "harness/explorer/other_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

Event RenameEvent(const std::string& from, const std::string& to) {
  Event event = Storage("master-0", 1, "rename", from);
  BodyOf<StorageEvent>(event).from = to;
  return event;
}

/// A run of one replica, in the making.
struct Story {
  Evidence run;
  int boot = 0;

  Story() { Begins(); }
  Story& Begins() {
    run.events.push_back(Start("master-0", ++boot));
    run.events.push_back(Live("master-0", boot));
    return *this;
  }
  Story& Does(int64_t step, double loss) {
    run.events.push_back(Step("master-0", boot, step, {{"step", step}, {"loss", loss}}));
    return *this;
  }
  Story& Is(const std::string& op, const Names& names) {
    for (const std::string& name : names) {
      run.events.push_back(Storage("master-0", boot, op, "job/out/" + name));
    }
    return *this;
  }
  Story& Writes(const Names& names) { return Is("overwrite", names); }
  Story& Reads(const Names& names) { return Is("read", names); }
  Story& IsLost() {
    run.events.push_back(Exit("master-0", boot, 0, 9));
    return *this;
  }
  Evidence Ends(const std::map<std::string, std::string>& objects = {}) {
    run.events.push_back(Exit("master-0", boot));
    run.events = Numbered(std::move(run.events));
    for (const auto& [name, bytes] : objects) run.objects["job/out/" + name] = {bytes, 1};
    run.state = "SUCCEEDED";
    return run;
  }
};

Names CausesAfter(const Evidence& undisturbed, size_t lost_after, const Evidence& recovery) {
  const Baseline baseline(undisturbed, undisturbed);
  Names causes;
  const CrashPoint point{.replica = "master-0", .events = lost_after};
  for (const Flaw& flaw : CompareRecovery(baseline, point, recovery)) causes.push_back(flaw.cause);
  return causes;
}

Evidence WithPair() {
  Story story;
  for (int step = 1; step <= 3; ++step) story.Does(step, 1.0 / step).Writes({"weights", "optim"});
  return story.Ends();
}

TEST(OtherState, NamesTheObjectsOfTwoAgesThatARestartReadTogether) {
  Story story;
  story.Does(1, 1).Writes({"weights", "optim"}).Does(2, 0.5).Writes({"weights"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Reads({"weights", "optim"}).Does(3, 0.4).Writes({"weights", "optim"});
  EXPECT_THAT(CausesAfter(WithPair(), lost_after, story.Ends()),
              ElementsAre("an artefact belongs to another state: job/out/optim beside "
                          "job/out/weights",
                          "steps differ in 'loss'"));
}

TEST(OtherState, IsSilentIfTheResultIsTheSame) {
  Story story;
  story.Does(1, 1).Writes({"weights", "optim"}).Does(2, 0.5).Writes({"weights"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Reads({"weights", "optim"}).Does(3, 1.0 / 3);
  EXPECT_THAT(CausesAfter(WithPair(), lost_after, story.Ends()), IsEmpty());
}

TEST(OtherState, AcceptsObjectsOfOneAge) {
  Story story;
  story.Does(1, 1).Writes({"weights", "optim"}).Does(2, 0.5).Writes({"weights", "optim"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Reads({"weights", "optim"}).Does(3, 0.4);
  EXPECT_THAT(CausesAfter(WithPair(), lost_after, story.Ends()),
              ElementsAre("steps differ in 'loss'"));
}

Evidence WithFolders(const Names& parts) {
  Story story;
  story.Writes({"vocabulary"});
  for (int step = 1; step <= 3; ++step) {
    story.Does(step, 1.0 / step);
    for (const std::string& part : parts) {
      story.Is("create", {"ckpt-" + std::to_string(step) + "/" + part});
    }
  }
  return story.Ends();
}

TEST(OtherState, AcceptsATrainerThatFallsBackToAnOlderCheckpoint) {
  Story story;
  story.Writes({"vocabulary"}).Does(1, 1).Is("create", {"ckpt-1/weights", "ckpt-1/optim"});
  story.Does(2, 0.5).Is("create", {"ckpt-2/weights"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins();
  story.Reads({"vocabulary", "ckpt-2/weights", "ckpt-1/weights", "ckpt-1/optim"});
  story.Does(2, 0.6).Does(3, 0.4);
  EXPECT_THAT(CausesAfter(WithFolders({"weights", "optim"}), lost_after, story.Ends()),
              ElementsAre("steps differ in 'loss'"));
}

TEST(OtherState, TellsTheNumberOfAPartFromTheNumberOfAStep) {
  Story story;
  story.Does(1, 1).Is("create", {"ckpt-1/shard-0", "ckpt-1/shard-1"});
  story.Does(2, 0.5).Is("create", {"ckpt-2/shard-0"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Reads({"ckpt-2/shard-0", "ckpt-1/shard-1"}).Does(3, 0.4);
  EXPECT_THAT(CausesAfter(WithFolders({"shard-0", "shard-1"}), lost_after, story.Ends()),
              ElementsAre("an artefact belongs to another state: job/out/ckpt-#/shard-# beside "
                          "job/out/ckpt-#/shard-#",
                          "steps differ in 'loss'"));
}

TEST(OtherState, NamesAModelThatIsLeftFromAnotherStep) {
  Story undisturbed;
  undisturbed.Does(1, 1).Does(2, 0.5).Writes({"best"}).Does(3, 0.6);
  Story story;
  story.Does(1, 1).Does(2, 0.5).Writes({"best"});
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Does(3, 0.6).Writes({"best"});
  EXPECT_THAT(CausesAfter(undisturbed.Ends({{"best", "\x80 two"}}), lost_after,
                          story.Ends({{"best", "\x80 three"}})),
              ElementsAre("an artefact belongs to another state: job/out/best"));
}

TEST(OtherState, DoesNotCompareAnObjectThatWasWrittenBeforeTheFirstStepOfABoot) {
  Story undisturbed;
  undisturbed.Does(1, 1).Does(2, 0.5).Writes({"model"});
  Story story;
  story.Does(1, 1).Does(2, 0.5);
  const size_t lost_after = story.run.events.size();
  story.IsLost().Begins().Writes({"model"});
  EXPECT_THAT(CausesAfter(undisturbed.Ends({{"model", "\x80 a"}}), lost_after,
                          story.Ends({{"model", "\x80 b"}})),
              ElementsAre("objects have different contents: job/out/model"));
}

TEST(OtherState, AgesFollowRenamesOfFilesAndDirectories) {
  Story story;
  story.Does(7, 1).Writes({"tmp/weights", "tmp/deep/optim", "pointer.tmp"});
  ObjectAges ages(story.run.events);
  EXPECT_THAT(ages.Take(RenameEvent("job/out/tmp", "job/out/ckpt-7")),
              ElementsAre("job/out/ckpt-7/deep/optim", "job/out/ckpt-7/weights"));
  EXPECT_THAT(ages.Take(RenameEvent("job/out/pointer.tmp", "job/out/pointer")),
              ElementsAre("job/out/pointer"));
  EXPECT_EQ(ages.AgeOf("job/out/ckpt-7/deep/optim"), 7);
  EXPECT_EQ(ages.AgeOf("job/out/pointer"), 7);
  EXPECT_EQ(ages.AgeOf("job/out/tmp/weights"), std::nullopt);
}

TEST(OtherState, ComesAfterLostProgressAndBeforeWrongSteps) {
  using Kind = Flaw::Kind;
  EXPECT_LT(RankOf(Kind::kLostProgress), RankOf(Kind::kOtherState));
  EXPECT_LT(RankOf(Kind::kOtherState), RankOf(Kind::kSteps));
  EXPECT_EQ(FlawKindNamed(Name(Kind::kOtherState)), Kind::kOtherState);
}

}  // namespace
}  // namespace caip::harness
