// Every invariant says no to something: one that cannot fail proves nothing.

#include "harness/simulation/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ml/render.h"

namespace caip::harness {
namespace {

using engine::JobRecord;
using ::testing::Contains;

/// A save of a running job that breaks nothing.
struct Save {
  Save() {
    record.job.key = {"p", "j", ""};
    record.job.document = ml::DocumentOf("p", AJob("j"));
    record.job.state = run::JobState::kRunning;
    record.job.create_time = kMorning;
    record.job.start_time = kMorning;
    note.names.cluster_id = "e118e0f997";
    note.replicas[{"master", 0}] = {1, 0, false};
    last_record = record;
    last_note = note;
  }
  std::vector<std::string> Refusing() {
    std::vector<std::string> names;
    for (const auto& invariant : InvariantsOfEverySave()) {
      if (!invariant.holds({world, record, note, tuned, &last_record, &last_note})) {
        names.push_back(invariant.name);
      }
    }
    return names;
  }
  SimulatedEngine world;
  JobRecord record;
  JobRecord last_record;
  engine::RunNote note;
  ml::Job tuned;
  engine::RunNote last_note;
};

TEST(Invariants, HoldOfARunningJob) { EXPECT_THAT(Save().Refusing(), ::testing::IsEmpty()); }

TEST(Invariants, HoldOfACancelledJobThatStops) {
  Save save;
  save.record.job.state = run::JobState::kCancelling;
  EXPECT_THAT(save.Refusing(), Contains("errorMessage exactly after a failure or a cancel"));
  save.record.job.error_message = "because";
  EXPECT_THAT(save.Refusing(), ::testing::IsEmpty());
}

TEST(Invariants, EachOfASaveCanBreak) {
  const std::pair<const char*, std::function<void(Save&)>> kBreaks[] = {
      {"endTime exactly in a terminal state", [](Save& t) { t.record.job.end_time = kMorning; }},
      {"createTime always", [](Save& t) { t.record.job.create_time.reset(); }},
      {"started after creation", [](Save& t) { *t.record.job.start_time -= Duration(1); }},
      {"ended after the start", [](Save& t) { t.record.job.end_time = kMorning - Duration(1); }},
      {"startTime before a job runs or succeeds", [](Save& t) { t.record.job.start_time.reset(); }},
      {"errorMessage exactly after a failure or a cancel",
       [](Save& t) { t.record.job.error_message = "no"; }},
      {"at most three retries of a job", [](Save& t) { t.note.attempt = 5; }},
      {"at most five restarts of a replica",
       [](Save& t) {
         t.note.replicas[{"master", 0}].restarts = 6;
       }},
      {"as many boots as restarts and retries allow",
       [](Save& t) {
         t.note.replicas[{"master", 0}].boot = 25;
       }},
      {"states follow the table", [](Save& t) { t.record.job.state = run::JobState::kQueued; }},
      {"a finished job never changes",
       [](Save& t) { t.last_record.job.state = run::JobState::kFailed; }},
      {"createTime never changes", [](Save& t) { *t.last_record.job.create_time += Duration(1); }},
      {"startTime never changes", [](Save& t) { *t.last_record.job.start_time += Duration(1); }},
      {"the cluster keeps its id", [](Save& t) { t.note.names.cluster_id = "other"; }},
      {"attempts only grow", [](Save& t) { t.last_note.attempt = 2; }},
      {"boots only grow",
       [](Save& t) {
         t.last_note.replicas[{"master", 0}].boot = 2;
       }},
  };
  for (const auto& [name, spoil] : kBreaks) {
    Save save;
    spoil(save);
    if (!save.record.job.create_time) save.record.job.start_time.reset();
    EXPECT_THAT(save.Refusing(), Contains(std::string(name)));
  }
}

}  // namespace
}  // namespace caip::harness
