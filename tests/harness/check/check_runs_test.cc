// Which runs `caip check` plans, which of them use machines, and what the machines show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/check/check.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Checks, HaveUniqueIdsWithAChapterAndKnownRuns) {
  std::set<std::string> ids;
  for (const CheckKind& check : CheckKinds()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_EQ(std::count(check.id.begin(), check.id.end(), '/'), 1) << check.id;
    EXPECT_TRUE(check.sentence.ends_with(".")) << check.id;
    EXPECT_FALSE(check.source.empty()) << check.id;
    for (const std::string& run : check.runs) EXPECT_TRUE(FindCheckRun(run)) << run;
  }
}

TEST(CheckRuns, ComeAfterTheRunsThatTheyDependOn) {
  std::set<std::string> before;
  for (const CheckRunKind& kind : CheckRunKinds()) {
    for (const std::string& name : kind.after) EXPECT_TRUE(before.contains(name)) << kind.name;
    before.insert(kind.name);
  }
}

TEST(CheckRuns, AreThoseThatTheChosenChecksNeed) {
  const CheckKind* stop = FindCheck("roles/stop-with-master");
  ASSERT_NE(stop, nullptr);
  std::vector<std::string> names;
  for (const CheckRunKind* kind : RunsFor({stop})) names.push_back(kind->name);
  EXPECT_THAT(names, ElementsAre("plain", "on-machine", "chief"));
}

TEST(CheckRuns, NeedAJobThatSucceedsWithoutFaults) {
  ASession session;
  session.Ends("FAILED");
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (kind.name == "plain" || kind.name == "packages") continue;
    EXPECT_THAT(kind.plan(*session).skip, HasSubstr("does not succeed")) << kind.name;
  }
}

TEST(CheckRuns, OfASingleReplicaGetEveryRole) {
  ASession session = Saves({10, 20}, 30);
  const Json chief = FindCheckRun("chief")->plan(*session).scenario.document;
  EXPECT_EQ(StringOr(chief, "workerCount"), "2");
  EXPECT_EQ(StringOr(chief, "evaluatorCount"), "1");
  EXPECT_EQ(StringOr(chief, "runtimeVersion"), "2.11");
  const Json master = FindCheckRun("master")->plan(*session).scenario.document;
  EXPECT_FALSE(master.contains("evaluatorCount"));
  EXPECT_EQ(StringOr(master, "runtimeVersion"), "1.15");
}

TEST(CheckRuns, OfAClusterKeepItsRoles) {
  ASession session = Saves({10, 20}, 30);
  Json& input = session->trainer.job.document;
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = input["workerType"] = "n1-standard-8";
  input["workerCount"] = "3";
  EXPECT_EQ(FindCheckRun("chief")->plan(*session).scenario.document, input);
}

// The names of the runs whose replicas are machines by default.
std::set<std::string> RunsOnMachines(const CheckSession& session) {
  std::set<std::string> names;
  for (const CheckRunKind& kind : CheckRunKinds()) {
    if (kind.plan(session).on_machines) names.insert(kind.name);
  }
  return names;
}

/// A session whose plain run was a process of this host.
ASession WithPlainProcess() {
  ASession session = Saves({10, 20}, 30);
  session->runs["plain"].launched.front().boot_disk = "/state/disks/master-0";
  return session;
}

TEST(CheckRuns, UseMachinesAfterThePlainRun) {
  ASession session = WithPlainProcess();
  const std::set<std::string> on_machines = RunsOnMachines(*session);
  for (const char* name : {"chief", "master", "restarts", "unknown-flag", "maintenance"}) {
    EXPECT_TRUE(on_machines.contains(name)) << name;
  }
  EXPECT_FALSE(on_machines.contains("moved")) << "it is compared with the plain run";
  session->runs["plain"].traces.files.push_back(
      {.replica = "master-0", .path = "/srv/words.txt", .was_there = true, .read = true});
  EXPECT_THAT(RunsOnMachines(*session), IsEmpty()) << "a machine may hide the file";
}

TEST(CheckRuns, UseMachinesIfTheJobSucceedsOnOne) {
  ASession session = WithPlainProcess();
  const RunPlan plan = FindCheckRun("on-machine")->plan(*session);
  EXPECT_EQ(plan.skip, "");
  EXPECT_TRUE(plan.on_machines && plan.needs_machines);
  CheckRun& machine = session->runs["on-machine"];
  machine.evidence.state = "SUCCEEDED";
  EXPECT_TRUE(RunsOnMachines(*session).contains("moved")) << "the new name has an address there";
  machine.evidence.state = "FAILED";
  for (const char* name : {"chief", "restarts", "maintenance", "moved", "without-tf-config"}) {
    EXPECT_FALSE(RunsOnMachines(*session).contains(name)) << name;
  }
  machine = {.skipped = "the host allows no machines"};
  EXPECT_TRUE(RunsOnMachines(*session).contains("chief"));
  session->runs["plain"].launched.front().boot_disk = "";
  EXPECT_NE(FindCheckRun("on-machine")->plan(*session).skip, "") << "the plain run had a machine";
}

TEST(IndependenceCheck, FailsIfTheJobFailsOnAMachineOnly) {
  ASession session = WithPlainProcess();
  session->runs["moved"] = session->runs["plain"];
  CheckRun& machine = session->runs["on-machine"];
  machine.evidence.state = "FAILED";
  machine.evidence.events = {
      Line("master-0", 1, "ConnectionRefusedError: [Errno 111] Connection refused", "ERROR"),
      Exit("master-0", 1, 1)};
  const CheckKind& check = *FindCheck("machine/independent");
  const CheckResult result = EvaluateCheck(check, *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kFail);
  EXPECT_THAT(result.found, HasSubstr("on a machine of its own: FAILED"));
  EXPECT_THAT(result.evidence, Contains(HasSubstr("ConnectionRefusedError")));
  EXPECT_THAT(result.advice, HasSubstr("localhost"));
  machine = {.skipped = "the host allows no machines"};
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
}

TEST(IndependenceCheck, DoesNotJudgeTheAddressOfTheNewNameOfAProcess) {
  const CheckKind& check = *FindCheck("machine/independent");
  for (const char* boot_disk : {"/state/disks/master-0", ""}) {
    ASession session = WithPlainProcess();
    CheckRun& moved = session->runs["moved"];
    moved.launched = session->runs["plain"].launched;
    moved.launched.front().boot_disk = boot_disk;
    moved.evidence.state = "FAILED";
    moved.evidence.events = {
        Line("master-0", 1, "socket.gaierror: [Errno -2] Name or service not known", "ERROR"),
        Line("master-0", 1, "a line that was printed before"), Exit("master-0", 1, 1)};
    const bool is_machine = *boot_disk == '\0';
    EXPECT_EQ(EvaluateCheck(check, *session).verdict,
              is_machine ? CheckVerdict::kFail : CheckVerdict::kSkipped);
    moved.evidence.events.front() = Line("master-0", 1, "ValueError: another host", "ERROR");
    EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kFail);
  }
}

TEST(CheckRuns, OfAClusterUseMachines) {
  ASession session;
  Json& input = session->trainer.job.document;
  input["scaleTier"] = "STANDARD_1";
  session->runs.clear();
  EXPECT_TRUE(FindCheckRun("plain")->plan(*session).on_machines);
  input["scaleTier"] = "BASIC";
  EXPECT_FALSE(FindCheckRun("plain")->plan(*session).on_machines);
}

TEST(RestartsRun, IsPlannedByTheTimeOfTheTrainingNotByThatOfTheInstallation) {
  ASession session;
  session.With(100, Live("master-0", 1)).With(102, Step("master-0", 1, 1));
  session.With(104, Exit("master-0", 1)).Ends("SUCCEEDED");
  session->runs["plain"].took = seconds(104);
  EXPECT_EQ(FindCheckRun("restarts")->plan(*session).skip, "");
}

}  // namespace
}  // namespace caip::harness
