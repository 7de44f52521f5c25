// The points at which the explorer lets programs fail, those of second restarts, and faults of the
// network.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/explore/plan.h"
#include "emulator/explore/task_list.h"
#include "tests/harness/run_of.h"

namespace caip::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kChief[] = "workerpool0-0";
constexpr char kOther[] = "workerpool1-0";

/// Two replicas with ten steps each. `stores`: the replica that writes a model after its steps 4
/// and 10.
harness::Evidence TwoReplicas(const std::string& stores) {
  harness::Evidence run;
  for (const char* replica : {kOther, kChief}) run.events.push_back(harness::Start(replica, 1));
  for (int64_t step = 1; step <= 10; ++step) {
    for (const char* replica : {kOther, kChief}) {
      run.events.push_back(harness::Step(replica, 1, step));
      if (replica != stores || (step != 4 && step != 10)) continue;
      run.events.push_back(
          harness::Storage(replica, 1, step == 4 ? "create" : "overwrite", "job/out/model"));
    }
  }
  run.events = harness::Numbered(std::move(run.events));
  return run;
}

std::vector<std::string> PointsOf(const harness::Evidence& run,
                                  const std::set<std::string>& replicas = {}) {
  std::vector<std::string> points;
  for (const auto& point : FailurePoints(run, replicas)) points.push_back(Describe(point));
  return points;
}

TEST(FailurePoints, AreOfReplicasThatHaveStoredSomething) {
  EXPECT_THAT(
      PointsOf(TwoReplicas(kChief)),
      ElementsAre("after step 7 of workerpool0-0", "after overwrite job/out/model by workerpool0-0",
                  "after step 9 of workerpool0-0", "after step 5 of workerpool0-0"));
  EXPECT_THAT(
      PointsOf(TwoReplicas(kOther)),
      ElementsAre("after step 7 of workerpool1-0", "after overwrite job/out/model by workerpool1-0",
                  "after step 9 of workerpool1-0", "after step 5 of workerpool1-0"));
}

TEST(FailurePoints, AreOfTheFirstPoolBeforeOthers) {
  harness::Evidence run = TwoReplicas(kChief);
  run.events.insert(run.events.begin() + 3,
                    harness::Storage(kOther, 1, "create", "job/out/summary"));
  const std::vector<std::string> points = PointsOf(run);
  ASSERT_EQ(points.size(), 8u);
  EXPECT_THAT(points[3], ::testing::HasSubstr(kChief));
  EXPECT_THAT(points[4], ::testing::HasSubstr(kOther));
}

TEST(FailurePoints, AreOfChosenReplicasOnly) {
  EXPECT_THAT(PointsOf(TwoReplicas(kChief), {kOther}), IsEmpty());
  EXPECT_EQ(PointsOf(TwoReplicas(kChief), {kChief}), PointsOf(TwoReplicas(kChief)));
}

TEST(FailurePoints, OfAResultThatIsStoredAtTheEndAreAfterIt) {
  harness::Evidence run;
  run.events = harness::Numbered({harness::Start(kChief, 1), harness::Step(kChief, 1, 1),
                                  harness::Step(kChief, 1, 2),
                                  harness::Storage(kChief, 1, "create", "job/out/model")});
  EXPECT_THAT(PointsOf(run), ElementsAre("after create job/out/model by workerpool0-0"));
}

/// A recovery that lists, reads, and stores two checkpoints, each after a step.
RecordedRun Recovery() {
  harness::Evidence run;
  run.events = harness::Numbered(
      {harness::Start(kChief, 2), harness::Storage(kChief, 2, "list", "job/out/"),
       harness::Storage(kChief, 2, "read", "job/out/a"), harness::Step(kChief, 2, 1),
       harness::Storage(kChief, 2, "create", "job/out/b"), harness::Step(kChief, 2, 2),
       harness::Storage(kChief, 2, "create", "job/out/c")});
  RecordedRun recovery;
  recovery.points = harness::FindCrashPoints(run, {{"storage"}, {}, false});
  recovery.events = run.events;
  return recovery;
}

std::vector<std::string> SecondRestarts(const RecordedRun& recovery, const Interruption& what) {
  TaskList tasks;
  tasks.AddWhole(recovery, recovery.points.front(), what);
  std::vector<std::string> points;
  for (size_t i = 0; i < tasks.size(); ++i) points.push_back(Describe(*tasks[i].second));
  return points;
}

TEST(SecondRestarts, ComeAfterChangesThatOutliveThem) {
  RecordedRun recovery = Recovery();
  recovery.disk_changes.emplace();
  const auto after_changes = ElementsAre("after create job/out/b by workerpool0-0",
                                         "after create job/out/c by workerpool0-0");
  EXPECT_THAT(SecondRestarts(recovery, Interruption::kProcessKilled), after_changes);
  EXPECT_THAT(SecondRestarts(recovery, Interruption::kMachineLost), after_changes);
}

TEST(SecondRestarts, ComeAfterChangesOfAKeptDisk) {
  RecordedRun recovery = Recovery();
  recovery.disk_changes = {3};  // after the read
  EXPECT_THAT(SecondRestarts(recovery, Interruption::kProcessKilled),
              ElementsAre("before create job/out/b by workerpool0-0",
                          "after create job/out/b by workerpool0-0",
                          "after create job/out/c by workerpool0-0"));
  recovery.disk_changes = {2};  // between the list and the read
  EXPECT_THAT(SecondRestarts(recovery, Interruption::kProcessKilled).front(),
              "before read job/out/a by workerpool0-0");
}

TEST(SecondRestarts, ComeAnywhereWhereMemoryOrOthersMatter) {
  RecordedRun recovery = Recovery();
  const auto all = SecondRestarts(recovery, Interruption::kProcessKilled);  // of several replicas
  EXPECT_THAT(all, ::testing::Contains("after list job/out/ by workerpool0-0"));
  recovery.disk_changes.emplace();
  EXPECT_EQ(SecondRestarts(recovery, Interruption::kNotice), all);
}

/// A run that stores a mark, and ten checkpoints, each after a step. The second boot repeats what
/// the first one did.
RecordedRun Checkpoints(int boot) {
  harness::Evidence run;
  if (boot > 1) run.events = {harness::Start(kChief, 1), harness::Step(kChief, 1, 10)};
  RecordedRun recorded;
  recorded.begin = run.events.size();
  run.events.push_back(harness::Start(kChief, boot));
  run.events.push_back(harness::Storage(kChief, boot, "create", "job/out/mark"));
  for (int64_t step = 1; step <= 10; ++step) {
    run.events.push_back(harness::Step(kChief, boot, step));
    run.events.push_back(
        harness::Storage(kChief, boot, "create", "job/out/ckpt-" + std::to_string(step)));
  }
  run.events = harness::Numbered(std::move(run.events));
  recorded.points = harness::FindCrashPoints(run, {{"storage"}, {}, false});
  recorded.events = run.events;
  return recorded;
}

/// The second restarts of a plan by default, one for each recovery that the plan chooses.
std::vector<std::string> SampledSecondRestarts(const ExploreOptions& options) {
  Plan plan(options);
  plan.AddSingles(Checkpoints(1), false);
  std::map<size_t, RecordedRun> recoveries;
  for (size_t i = 0; i < plan.tasks().size(); ++i) {
    if (!plan.Deepens(i)) continue;
    recoveries[i] = Checkpoints(2);
    recoveries[i].disk_changes.emplace();
  }
  const size_t singles = plan.tasks().size();
  plan.AddPairs(recoveries);
  std::vector<std::string> points;
  for (size_t i = singles; i < plan.tasks().size(); ++i) {
    points.push_back(Describe(*plan.tasks()[i].second));
  }
  return points;
}

TEST(SecondRestarts, OfASampleAreAtDifferentPartsOfTheRecoveries) {
  const auto points = SampledSecondRestarts({});
  EXPECT_EQ(points.size(), 8u);
  const std::string mark = "after create job/out/mark by workerpool0-0";
  EXPECT_THAT(points, ::testing::Contains(mark));
  const std::set<std::string> different(points.begin(), points.end());
  EXPECT_EQ(different.size(), 5u) << ::testing::PrintToString(points);
  EXPECT_EQ(SampledSecondRestarts({}), points);
}

TEST(SecondRestarts, OfASampleComeAfterRestartsOfKeptDisks) {
  ExploreOptions options;
  options.disks = Disks::kKept;
  EXPECT_EQ(SampledSecondRestarts(options).size(), 8u);
}

TEST(SecondRestarts, OfASampleTakeOthersWhereStatesAreTheSame) {
  TaskList tasks;
  RecordedRun recovery = Checkpoints(2);
  for (size_t i = 0; i <= 11; ++i) {  // of buckets, after each change
    auto object = std::make_shared<scenario::KeptObject>();
    object->digest = std::to_string(i);
    recovery.states.push_back({{"job/out/x", std::move(object)}});
  }
  std::set<std::string> points;
  for (size_t turn = 0; turn < 4; ++turn) {
    const size_t before = tasks.size();
    tasks.AddRecorded(recovery, recovery.points.front());
    ASSERT_GT(tasks.size(), before + 1) << "what was not kept can be tried later";
    tasks.KeepOne(before, turn);
    ASSERT_EQ(tasks.size(), before + 1);
    points.insert(Describe(*tasks[before].second));
  }
  EXPECT_EQ(points.size(), 4u);
}

/// A run of so many replicas. The first one stores `changes` objects, the others nothing.
RecordedRun Cluster(size_t replicas, size_t changes) {
  harness::Evidence run;
  for (size_t i = 0; i < replicas; ++i) {
    run.events.push_back(harness::Start("worker-" + std::to_string(i), 1));
  }
  for (size_t i = 0; i < changes; ++i) {
    run.events.push_back(harness::Storage("worker-0", 1, "create", "job/out/" + std::to_string(i)));
  }
  run.events = harness::Numbered(std::move(run.events));
  RecordedRun recorded;
  recorded.points = harness::FindCrashPoints(run, {{"storage"}, {}, false});
  recorded.events = run.events;
  return recorded;
}

constexpr size_t kNetworkKinds = 5;

TEST(NetworkFaults, OfEachKindMeetEachPeer) {
  for (size_t replicas = 1; replicas <= 12; ++replicas) {
    SCOPED_TRACE(replicas);
    const size_t peers = replicas;  // the other ones and storage
    TaskList tasks;
    tasks.AddNetworkFaults(Cluster(replicas, kNetworkKinds * peers), kNetworkKinds * peers);
    ASSERT_EQ(tasks.size(), kNetworkKinds * peers);
    std::set<std::string> first_peers;
    std::set<std::pair<Interruption::Kind, std::string>> pairs;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (i < peers) first_peers.insert(tasks[i].what.peer);
      pairs.emplace(tasks[i].what.kind, tasks[i].what.peer);
    }
    EXPECT_EQ(first_peers.size(), peers);
    EXPECT_EQ(pairs.size(), kNetworkKinds * peers);
  }
}

/// The kinds of the network faults of a plan by default, by their peer.
std::map<std::string, std::set<Interruption::Kind>> DefaultNetworkFaults(size_t replicas) {
  ExploreOptions options;
  options.network = true;
  Plan plan(options);
  plan.AddSingles(Cluster(replicas, 60), false);
  std::map<std::string, std::set<Interruption::Kind>> kinds;
  for (size_t i = 0; i < plan.tasks().size(); ++i) {
    const Interruption& what = plan.tasks()[i].what;
    if (!what.peer.empty()) kinds[what.peer].insert(what.kind);
  }
  return kinds;
}

TEST(NetworkFaults, OfASampleOfASmallClusterMeetStorageInAllKinds) {
  for (const size_t replicas : {1, 2, 3, 4}) {
    auto kinds = DefaultNetworkFaults(replicas);
    EXPECT_EQ(kinds[std::string(harness::kStoragePeer)].size(), kNetworkKinds) << replicas;
    EXPECT_EQ(kinds.size(), replicas);
  }
}

TEST(NetworkFaults, OfASampleMeetEachPeerOfAClusterOfSix) {
  const auto kinds = DefaultNetworkFaults(6);
  EXPECT_EQ(kinds.size(), 6u);
  EXPECT_EQ(kinds.count(std::string(harness::kStoragePeer)), 1u);
}

TEST(NetworkFaults, OfASampleMeetStorageInAClusterWithMoreReplicasThanFaults) {
  const auto kinds = DefaultNetworkFaults(30);
  EXPECT_EQ(kinds.size(), 20u);
  EXPECT_EQ(kinds.count(std::string(harness::kStoragePeer)), 1u);
}

TEST(NetworkFaults, WithoutRemoteStorageAreBetweenReplicas) {
  RecordedRun run = Cluster(3, 20);
  run.has_remote_storage = false;
  TaskList tasks;
  tasks.AddNetworkFaults(run, 20);
  ASSERT_EQ(tasks.size(), 20u);
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_NE(tasks[i].what.peer, harness::kStoragePeer);
  }
}

/// The points of all tasks of a plan with that interruption.
std::vector<std::string> PointsWith(const ExploreOptions& options, const RecordedRun& run,
                                    Interruption::Kind kind) {
  Plan plan(options);
  plan.AddSingles(run, false);
  std::vector<std::string> points;
  for (size_t i = 0; i < plan.tasks().size(); ++i) {
    const ExploreTask& task = plan.tasks()[i];
    if (task.what.kind == kind && !task.second) points.push_back(Describe(task.point));
  }
  return points;
}

TEST(StorageErrors, ComeBeforeEachOperationAndAfterEachChange) {
  ExploreOptions options;
  options.storage_errors = true;
  RecordedRun run = Recovery();
  run.storage_points = run.points;
  std::erase_if(run.points, [](const auto& point) { return point.op == "list"; });
  EXPECT_THAT(
      PointsWith(options, run, Interruption::kStorageError),
      ElementsAre(
          "before list job/out/ by workerpool0-0", "before read job/out/a by workerpool0-0",
          "before create job/out/b by workerpool0-0", "after create job/out/b by workerpool0-0",
          "before create job/out/c by workerpool0-0", "after create job/out/c by workerpool0-0"));
}

TEST(Notices, ComeWhereMachinesAreLost) {
  ExploreOptions options;
  options.notice = true;
  const auto lost = PointsWith(options, Recovery(), Interruption::kMachineLost);
  EXPECT_EQ(PointsWith(options, Recovery(), Interruption::kNotice), lost);
  EXPECT_THAT(lost, ::testing::Contains("after create job/out/b by workerpool0-0"));
  EXPECT_EQ(PointsWith({}, Recovery(), Interruption::kNotice), std::vector<std::string>{});
}

TEST(SecondRestarts, AreCountedFromTheEventsWithoutThoseOfDisks) {
  const harness::Event change{.body = harness::DiskEvent{}};
  const harness::Event step = harness::Step(kChief, 1, 1);
  EXPECT_THAT(DiskChangesIn({change, step, change, change, step}), ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace caip::explore
