#include "harness/explorer/spoiled_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::HasSubstr;

constexpr char kReplica[] = "workerpool0-0";
constexpr char kModel[] = "job/out/model";
constexpr char kCheckpoint[] = "job/out/ckpt-20";

Event Write(int boot, const std::string& object) {
  return Storage(kReplica, boot, "create", object);
}
Event Done(int boot, int64_t step) { return Step(kReplica, boot, step); }

/// A run that has a model and a checkpoint of step 20, fails with exit code 1, and continues with
/// `second` in its next start.
Evidence FailedAt25(const std::vector<Event>& second) {
  Evidence run;
  run.events = {Start(kReplica, 1),    Done(1, 1),  Done(1, 20),          Write(1, kModel),
                Write(1, kCheckpoint), Done(1, 25), Exit(kReplica, 1, 1), Start(kReplica, 2)};
  run.events.insert(run.events.end(), second.begin(), second.end());
  run.events = Numbered(std::move(run.events));
  return run;
}

std::optional<SpoiledObject> Find(const Evidence& run, const Evidence& twin = {}) {
  return FindSpoiledObject(run, twin, [](const std::string&) { return true; });
}

TEST(SpoiledOutput, IsAnObjectThatAnEarlierStepOverwrites) {
  const auto spoiled = Find(FailedAt25({Done(2, 1), Write(2, kModel)}));
  ASSERT_TRUE(spoiled);
  EXPECT_EQ(spoiled->name, kModel);
  EXPECT_EQ(spoiled->expected, "job/out/model unchanged, written after step 20");
  EXPECT_EQ(spoiled->found, "overwritten by boot 2 after step 1");
}

TEST(SpoiledOutput, IsAnObjectThatIsOverwrittenBeforeAnyStep) {
  const auto spoiled = Find(FailedAt25({Write(2, kModel), Done(2, 1)}));
  ASSERT_TRUE(spoiled);
  EXPECT_THAT(spoiled->found, HasSubstr("before its first step"));
}

TEST(SpoiledOutput, IsADeletedObjectEvenOfATrainerThatResumes) {
  const auto deletion = Storage(kReplica, 2, "delete", kModel);
  const Evidence run =
      FailedAt25({Storage(kReplica, 2, "read", kCheckpoint), deletion, Done(2, 21)});
  ASSERT_TRUE(Find(run));
  EXPECT_EQ(Find(run)->found, "deleted by boot 2");
  Evidence twin;
  twin.events = {Write(1, kModel), deletion};
  EXPECT_FALSE(Find(run, twin)) << "what the training deletes anyway may be deleted";
}

TEST(SpoiledOutput, IsNotReplacedByWritingItAgainLater) {
  const auto deletion = Storage(kReplica, 2, "delete", kModel);
  Evidence twin;
  twin.events = {Write(1, kModel), deletion, Write(1, kModel)};
  EXPECT_TRUE(Find(FailedAt25({deletion}), twin)) << "nothing is there until the next step";
  EXPECT_FALSE(Find(FailedAt25({Done(2, 21), deletion, Write(2, kModel)}), twin));
}

TEST(SpoiledOutput, IsAlsoRenamed) {
  const auto renamed = [](const std::string& from, const std::string& to) {
    Event event = Storage(kReplica, 2, "rename", from);
    BodyOf<StorageEvent>(event).from = to;
    return event;
  };
  const auto away = Find(FailedAt25({renamed(kModel, "job/out/old")}));
  ASSERT_TRUE(away);
  EXPECT_EQ(away->name, kModel);
  EXPECT_EQ(away->found, "renamed by boot 2");
  EXPECT_TRUE(Find(FailedAt25({renamed("job/out", "job/old")}))) << "its directory";

  Evidence run;
  Event first = renamed("job/out/tmp", kModel);
  first.boot = 1;
  run.events = Numbered({Start(kReplica, 1), Done(1, 20), Write(1, "job/out/tmp"), first,
                         Exit(kReplica, 1, 1), Start(kReplica, 2), Done(2, 10),
                         Write(2, "job/out/tmp"), renamed("job/out/tmp", kModel)});
  const auto replaced = Find(run);
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->name, kModel);
  EXPECT_EQ(replaced->found, "overwritten by boot 2 after step 10");
}

TEST(SpoiledOutput, IsNotWhatAResumedTrainerWrites) {
  EXPECT_FALSE(Find(FailedAt25({Done(2, 21), Write(2, kModel)})));
}

TEST(SpoiledOutput, IsWhatAResumedTrainerWritesBeforeItsSteps) {
  const auto read = Storage(kReplica, 2, "read", kCheckpoint);
  const Evidence run = FailedAt25({read, Write(2, kModel), Done(2, 21)});
  ASSERT_TRUE(Find(run));
  EXPECT_EQ(Find(run)->doubt, SpoiledObject::Doubt::kNone);
  Evidence twin;
  twin.events = {Done(1, 20)};
  EXPECT_FALSE(Find(run, twin)) << "no step is left, so the output is written again";
}

TEST(SpoiledOutput, IsPossiblyWhatAResumedTrainerGoesThroughAgain) {
  const auto read = Storage(kReplica, 2, "read", kCheckpoint);
  Evidence run = FailedAt25({read, Done(2, 21), Write(2, "job/out/last")});
  run.events.insert(run.events.begin() + 6, Write(1, "job/out/last"));
  ASSERT_TRUE(Find(run));
  EXPECT_EQ(Find(run)->doubt, SpoiledObject::Doubt::kIsRedone);
}

TEST(SpoiledOutput, IsNotExcusedByAReadOfAConfiguration) {
  constexpr char kConfig[] = "job/out/config";
  Evidence run = FailedAt25({Storage(kReplica, 2, "read", kConfig), Done(2, 1), Write(2, kModel)});
  run.events.insert(run.events.begin() + 1, Write(1, kConfig));
  ASSERT_TRUE(Find(run));
  EXPECT_EQ(Find(run)->doubt, SpoiledObject::Doubt::kNone);
}

/// A run that reports no steps. It writes a configuration once and a model after each epoch, fails,
/// and continues with `second`.
Evidence FailedWithoutSteps(const std::vector<Event>& second) {
  Evidence run;
  run.events = {Start(kReplica, 1),   Write(1, "job/out/config"), Write(1, kModel),
                Write(1, kModel),     Write(1, "job/out/ckpt-1"), Write(1, "job/out/ckpt-2"),
                Exit(kReplica, 1, 1), Start(kReplica, 2)};
  run.events.insert(run.events.end(), second.begin(), second.end());
  run.events = Numbered(std::move(run.events));
  return run;
}

TEST(SpoiledOutput, IsPossiblyWhatAStartWritesThatHasReadOnlyAConfiguration) {
  const auto config = Storage(kReplica, 2, "read", "job/out/config");
  const auto checkpoint = Storage(kReplica, 2, "read", "job/out/ckpt-2");
  const auto spoiled = Find(FailedWithoutSteps({config, Write(2, kModel)}));
  ASSERT_TRUE(spoiled);
  EXPECT_EQ(spoiled->name, kModel);
  EXPECT_EQ(spoiled->doubt, SpoiledObject::Doubt::kMayResume);
  EXPECT_EQ(Find(FailedWithoutSteps({Write(2, kModel)}))->doubt, SpoiledObject::Doubt::kNone);
  EXPECT_FALSE(Find(FailedWithoutSteps({config, checkpoint, Write(2, kModel)})));
  EXPECT_FALSE(Find(FailedWithoutSteps({Write(2, "job/out/config")}))) << "each start writes it";
}

TEST(SpoiledOutput, IsNotWhatAStartWritesThatHasReadAStateInARenamedDirectory) {
  Evidence run;
  run.events = {Start(kReplica, 1)};
  for (const char* place : {"job/out/ckpt-1", "job/out/ckpt-2"}) {
    run.events.push_back(Write(1, "job/out/tmp/weights"));
    run.events.push_back(Storage(kReplica, 1, "rename", "job/out/tmp"));
    BodyOf<StorageEvent>(run.events.back()).from = place;
    run.events.push_back(Write(1, kModel));
  }
  run.events.push_back(Exit(kReplica, 1, 1));
  run.events.push_back(Start(kReplica, 2));
  Evidence again = run;
  again.events.push_back(Write(2, kModel));
  again.events = Numbered(std::move(again.events));
  EXPECT_TRUE(Find(again));
  run.events.push_back(Storage(kReplica, 2, "read", "job/out/ckpt-2/weights"));
  run.events.push_back(Write(2, kModel));
  run.events = Numbered(std::move(run.events));
  EXPECT_FALSE(Find(run));
}

TEST(SpoiledOutput, IsNotALaterStateOfATrainerThatBeginsAgain) {
  EXPECT_FALSE(Find(FailedAt25({Done(2, 1), Done(2, 20), Write(2, kModel)})));
}

TEST(SpoiledOutput, IsNotWhatEachStartWritesBeforeItsSteps) {
  Evidence run;
  run.events = Numbered({Start(kReplica, 1), Write(1, "job/out/config"), Done(1, 1),
                         Exit(kReplica, 1, 1), Start(kReplica, 2), Write(2, "job/out/config")});
  EXPECT_FALSE(Find(run));
}

TEST(SpoiledOutput, NeedsAnErrorOfTheProgram) {
  Evidence run = FailedAt25({Done(2, 1), Write(2, kModel)});
  EXPECT_TRUE(WasRestartedAfterError(run));
  for (Event& event : run.events) {
    if (event.Is<ExitEvent>()) BodyOf<ExitEvent>(event) = ExitEvent{0, 9};
  }
  EXPECT_FALSE(WasRestartedAfterError(run));
  EXPECT_FALSE(Find(run));
}

TEST(SpoiledOutput, CountsOnlyObjectsThatAreCompared) {
  const Evidence run = FailedAt25({Done(2, 1), Write(2, kModel)});
  EXPECT_FALSE(
      FindSpoiledObject(run, {}, [](const std::string& object) { return object != kModel; }));
}

}  // namespace
}  // namespace caip::harness
