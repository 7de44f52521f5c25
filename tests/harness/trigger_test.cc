#include "harness/faults/trigger.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

TriggerCount Counting(Trigger trigger, uint64_t seed = 1) {
  return TriggerCount(std::move(trigger), "master-0", Random(seed));
}

Trigger Before(const std::string& op, const std::string& glob) {
  return {.kind = StorageTrigger{Phase::kBefore, op, glob}};
}

TEST(Glob, StarsCrossSlashes) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"*", "", true},
      {"*", "a/b/c", true},
      {"", "", true},
      {"", "a", false},
      {"*/ckpt-20/*", "job/out/ckpt-20/state.json", true},
      {"*/ckpt-20/*", "job/out/ckpt-2/state.json", false},
      {"job/out/ckpt-??", "job/out/ckpt-20", true},
      {"job/out/ckpt-??", "job/out/ckpt-5", false},
      {"*.json", "a.json.tmp", false},
      {"*a*b", "aab", true},
      {"*ab", "abab", true},
      {"a*a", "a", false},
      {"a[b]", "a[b]", true},
      {"a[b]", "ab", false},
      {"a.b", "axb", false},
  };
  for (const auto& [glob, text, matches] : cases) {
    EXPECT_EQ(GlobMatches(glob, text), matches) << glob << " against " << text;
  }
}

TEST(Glob, OfManyStarsIsFast) {
  std::string glob;
  for (int i = 0; i < 50; ++i) glob += "*a";
  EXPECT_FALSE(GlobMatches(glob + "b", std::string(5000, 'a')));
}

TEST(Trigger, MatchesTheOperationItNames) {
  TriggerCount create = Counting(Before("create", "*/w"));
  EXPECT_FALSE(create.Meet(Storage("master-0", 1, "overwrite", "job/w"), Phase::kBefore));
  EXPECT_FALSE(create.Meet(Storage("master-0", 1, "create", "job/w"), Phase::kAfter));
  EXPECT_FALSE(create.Meet(Storage("master-0", 1, "create", "job/v"), Phase::kBefore));
  EXPECT_TRUE(create.Meet(Storage("master-0", 1, "create", "job/w"), Phase::kBefore));
  EXPECT_EQ(create.seen(), 1);
}

TEST(Trigger, MatchesAFileOfADiskOnlyByItsPrefix) {
  Event event = Storage("master-0", 1, "create", "job/w");
  TriggerCount of_disk = Counting(Before("create", "disk:*"));
  TriggerCount of_any_object = Counting(Before("create", "*"));
  EXPECT_FALSE(of_disk.Meet(event, Phase::kBefore));
  DiskEvent on_disk;
  on_disk.op = "create";
  on_disk.object = "disk:root/w";
  event.body = on_disk;
  EXPECT_TRUE(of_disk.Meet(event, Phase::kBefore));
  EXPECT_FALSE(of_any_object.Meet(event, Phase::kBefore));
}

TEST(Trigger, ChangeIsAllButReadAndList) {
  for (const char* op : {"create", "overwrite", "delete", "rename", "mkdir", "read", "list"}) {
    TriggerCount count = Counting(Before("change", "*"));
    const std::string name = op;
    EXPECT_EQ(count.Meet(Storage("master-0", 1, op, "job/a"), Phase::kBefore),
              name != "read" && name != "list")
        << op;
  }
}

TEST(Trigger, WriteIsCreateOrOverwrite) {
  Trigger write = Before("write", "*");
  write.nth.every = 1;
  TriggerCount count = Counting(write);
  EXPECT_TRUE(count.Meet(Storage("master-0", 1, "create", "job/w"), Phase::kBefore));
  EXPECT_TRUE(count.Meet(Storage("master-0", 1, "overwrite", "job/w"), Phase::kBefore));
  EXPECT_FALSE(count.Meet(Storage("master-0", 1, "copy", "job/w"), Phase::kBefore));
  EXPECT_FALSE(count.Meet(Storage("master-0", 1, "read", "job/w"), Phase::kBefore));
}

TEST(Trigger, OfALogLineMatchesLinesThatReportAStep) {
  TriggerCount log = Counting({.kind = LogTrigger{"step 9 "}});
  Event line = Step("master-0", 1, 9);
  BodyOf<StepEvent>(line).line = "step 9 loss 0.11";
  EXPECT_TRUE(log.Meet(line, Phase::kAfter));
  TriggerCount step = Counting({.kind = StepTrigger{9}});
  EXPECT_FALSE(step.Meet(Line("master-0", 1, "step 9 loss 0.11"), Phase::kAfter));
}

TEST(Trigger, OfACopyMatchesEitherName) {
  Event move = Storage("master-0", 1, "move", "job/final");
  BodyOf<StorageEvent>(move).from = "job/tmp";
  EXPECT_TRUE(Counting(Before("move", "*/tmp")).Meet(move, Phase::kBefore));
  EXPECT_TRUE(Counting(Before("move", "*/final")).Meet(move, Phase::kBefore));
  EXPECT_FALSE(Counting(Before("move", "*/other")).Meet(move, Phase::kBefore));
}

TEST(Trigger, EachKindMatchesItsOwnEvents) {
  const std::vector<std::pair<Trigger, Event>> pairs = {
      {{.kind = LogTrigger{"ckpt-\\d+"}}, Line("master-0", 1, "saved ckpt-10")},
      {{.kind = StepTrigger{12}}, Step("master-0", 1, 12)},
      {{.kind = StateTrigger{"RUNNING"}}, State("RUNNING")},
      {{.kind = BootTrigger{2}}, Live("master-0", 2)},
      {{.kind = FaultTrigger{"kill 1"}}, Injected("master-0", 1, "kill 1")},
      {{.kind = MetricTrigger{"accuracy"}},
       {.replica = "master-0", .boot = 1, .body = MetricEvent{"accuracy"}}},
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = 0; j < pairs.size(); ++j) {
      TriggerCount count = Counting(pairs[i].first);
      EXPECT_EQ(count.Meet(pairs[j].second, Phase::kAfter), i == j)
          << Describe(pairs[i].first) << " against " << Describe(pairs[j].second);
    }
  }
}

TEST(Trigger, ComparesItsNumberOrText) {
  EXPECT_FALSE(Counting({.kind = StepTrigger{12}}).Meet(Step("master-0", 1, 11), Phase::kAfter));
  EXPECT_FALSE(Counting({.kind = BootTrigger{2}}).Meet(Live("master-0", 1), Phase::kAfter));
  EXPECT_FALSE(Counting({.kind = StateTrigger{"RUNNING"}}).Meet(State("QUEUED"), Phase::kAfter));
  EXPECT_FALSE(
      Counting({.kind = LogTrigger{"^a$"}}).Meet(Line("master-0", 1, "ab"), Phase::kAfter));
}

TEST(Trigger, MatchesTheFaultsReplicaByDefault) {
  const Event workers = Step("worker-1", 1, 5);
  Trigger trigger{.kind = StepTrigger{5}};
  EXPECT_FALSE(Counting(trigger).Meet(workers, Phase::kAfter));
  trigger.replica = "worker-1";
  EXPECT_TRUE(Counting(trigger).Meet(workers, Phase::kAfter));
  trigger.replica = "any";
  EXPECT_TRUE(Counting(trigger).Meet(workers, Phase::kAfter));
}

TEST(Trigger, OfAnotherFaultMatchesThatFaultOnAnyReplica) {
  TriggerCount count = Counting({.kind = FaultTrigger{"kill 1"}});
  EXPECT_TRUE(count.Meet(Injected("worker-3", 1, "kill 1"), Phase::kAfter));
}

std::vector<int> InjectionsOf(Occurrence nth, int events) {
  TriggerCount count = Counting({.kind = StepTrigger{1}, .nth = nth});
  std::vector<int> injections;
  for (int i = 1; i <= events; ++i) {
    if (count.Meet(Step("master-0", 1, 1), Phase::kAfter)) injections.push_back(i);
  }
  EXPECT_EQ(count.seen(), events);
  return injections;
}

TEST(Trigger, CountsItsOccurrences) {
  EXPECT_EQ(InjectionsOf({}, 4), (std::vector<int>{1}));
  EXPECT_EQ(InjectionsOf({3, 3, 0}, 5), (std::vector<int>{3}));
  EXPECT_EQ(InjectionsOf({2, 4, 0}, 6), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(InjectionsOf({1, 1, 1}, 3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(InjectionsOf({1, 1, 3}, 7), (std::vector<int>{3, 6}));
}

std::vector<int> RandomOnes(uint64_t seed) {
  Trigger trigger{.kind = StepTrigger{1}, .nth = {1, 1, 1}, .probability = 0.25};
  TriggerCount count = Counting(trigger, seed);
  std::vector<int> injections;
  for (int i = 0; i < 2000; ++i) {
    if (count.Meet(Step("master-0", 1, 1), Phase::kAfter)) injections.push_back(i);
  }
  return injections;
}

TEST(Trigger, DependsOnItsSeed) {
  EXPECT_EQ(RandomOnes(7), RandomOnes(7));
  EXPECT_NE(RandomOnes(7), RandomOnes(8));
  EXPECT_GT(RandomOnes(7).size(), 400u);
  EXPECT_LT(RandomOnes(7).size(), 600u);
}

TEST(Trigger, DescribesItself) {
  Trigger write = Before("create", "*/state.json");
  EXPECT_EQ(Describe(write), "before create */state.json");
  write.nth = {3, 3, 0};
  write.replica = "worker-1";
  EXPECT_EQ(Describe(write), "before create */state.json of worker-1, the 3rd");
  write.nth = {11, 12, 0};
  EXPECT_EQ(Describe(write), "before create */state.json of worker-1, the 11th to the 12th");
  write.nth = {1, 1, 1};
  EXPECT_EQ(Describe(write), "before create */state.json of worker-1, every time");
  write.nth = {1, 1, 2};
  EXPECT_EQ(Describe(write), "before create */state.json of worker-1, every 2nd time");
  EXPECT_EQ(Describe({.kind = TimeTrigger{std::chrono::minutes(20)}}), "20m 00s after submission");
}

TEST(Trigger, HasTheProblemOfABadRegex) {
  EXPECT_EQ(RegexProblem("a+"), std::nullopt);
  ASSERT_NE(RegexProblem("a("), std::nullopt);
  EXPECT_NE(RegexProblem("a(")->find("missing )"), std::string::npos) << *RegexProblem("a(");
}

}  // namespace
}  // namespace caip::harness
