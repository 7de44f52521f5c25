// The checks of what each role of a cluster does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "harness/check/check.h"
#include "harness/check/own_copies.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RoleChecks, AReplicaThatWritesTheMastersObjectsGetsAWarning) {
  for (const char* object : {"job/out/model", "job/out/worker-0"}) {
    ASession session;
    CheckRun run;
    run.launched.push_back({"master-0", 1, {}, {}});
    run.evidence.state = "SUCCEEDED";
    run.evidence.events = {Storage("master-0", 1, "create", "job/out/model"),
                           Storage("worker-0", 1, "create", object)};
    session->runs["chief"] = run;
    const CheckResult result = EvaluateCheck(*FindCheck("roles/worker"), *session);
    const bool shares = std::string(object) == "job/out/model";
    EXPECT_EQ(result.verdict, shares ? CheckVerdict::kWarn : CheckVerdict::kPass) << object;
    EXPECT_THAT(result.found, HasSubstr(shares ? "overwrites its objects" : "it did its part"));
  }
}

/// A run of all roles, in which replicas store objects that are there at the end.
class ARunOfRoles {
 public:
  ARunOfRoles() {
    run_.launched.push_back({"master-0", 1, {}, {}});
    run_.evidence.state = "SUCCEEDED";
  }
  ARunOfRoles& Stores(const std::string& replica, const std::string& object) {
    run_.evidence.events.push_back(Storage(replica, 1, "create", "job/out/" + object));
    run_.evidence.objects["job/out/" + object] = {};
    return *this;
  }
  ARunOfRoles& Renames(const std::string& replica, const std::string& from, const std::string& to) {
    run_.evidence.events.push_back(Storage(replica, 1, "rename", "job/out/" + from));
    BodyOf<StorageEvent>(run_.evidence.events.back()).from = "job/out/" + to;
    auto& objects = run_.evidence.objects;
    for (auto at = objects.begin(); at != objects.end();) {
      const bool moves = at->first.starts_with("job/out/" + from);
      if (moves) objects["job/out/" + to + at->first.substr(8 + from.size())] = {};
      at = moves ? objects.erase(at) : std::next(at);
    }
    return *this;
  }
  ARunOfRoles& Deletes(const std::string& object) {
    run_.evidence.objects.erase("job/out/" + object);
    return *this;
  }
  CheckResult Of(const std::string& role) const {
    ASession session;
    session->runs["chief"] = run_;
    return EvaluateCheck(*FindCheck("roles/" + role), *session);
  }

 private:
  CheckRun run_;
};

TEST(RoleChecks, AReplicaThatStoresWhatTheMasterStoresUnderAnotherNameGetsAWarning) {
  const std::pair<const char*, const char*> names[] = {
      {"export/17/saved_model.pb", "export/23/saved_model.pb"},  // times, as exporters have
      {"export/saved_model.pb", "export/worker-0/saved_model.pb"},
      {"export/chief/model.joblib", "export/worker_0/model.joblib"},
      {"export_master_0/model.bst", "export_worker_0/model.bst"},
      {"model-master-0.keras", "model-worker-0.keras"},
      {"ckpt-2/weights", "worker-0/ckpt-2/weights"}};
  for (const auto& [of_master, of_worker] : names) {
    const CheckResult result =
        ARunOfRoles().Stores("master-0", of_master).Stores("worker-0", of_worker).Of("worker");
    EXPECT_EQ(result.verdict, CheckVerdict::kWarn) << of_worker;
    EXPECT_THAT(result.found, HasSubstr("stores the same objects under names of its own"));
    EXPECT_THAT(result.evidence, ElementsAre(HasSubstr(of_worker)));
    EXPECT_THAT(result.advice, HasSubstr("temporary directory"));
  }
}

TEST(RoleChecks, AReplicaMayStorePartsAndRecordsOfItsOwn) {
  const std::pair<const char*, const char*> names[] = {
      {"out/data-00000-of-00002", "out/data-00001-of-00002"},
      {"out/part-0.csv", "out/part-1.csv"},
      {"out/shard-0/data.csv", "out/shard-1/data.csv"},
      {"ckpt/rank-0.pt", "ckpt/rank-1.pt"},
      {"logs/master-0/train.txt", "logs/worker-0/train.txt"},
      {"master-0.log", "worker-0.log"},
      {"train/events.out.tfevents.1.a.v2", "train/events.out.tfevents.2.b.v2"},
      {"backup/ckpt-1.index", "backup/workertemp_1/ckpt-1.index"},
      {"export/17/saved_model.pb", "vocabulary/23/words.txt"}};
  for (const auto& [of_master, of_worker] : names) {
    const CheckResult result =
        ARunOfRoles().Stores("master-0", of_master).Stores("worker-0", of_worker).Of("worker");
    EXPECT_EQ(result.verdict, CheckVerdict::kPass) << of_worker << ": " << result.found;
  }
}

TEST(RoleChecks, OnlyWhatIsLeftAtTheEndIsACopy) {
  ARunOfRoles run;
  run.Stores("master-0", "model/saved_model.pb")
      .Stores("worker-0", "worker-0/model/saved_model.pb");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kWarn);
  run.Deletes("worker-0/model/saved_model.pb");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kPass);
  run.Stores("worker-0", "copy/saved_model.pb").Renames("worker-0", "copy", "worker-0/model");
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kWarn);
}

TEST(RoleChecks, AnObjectIsSharedUnderItsLastName) {
  ARunOfRoles run;
  run.Stores("master-0", "tmpab12").Renames("master-0", "tmpab12", "model");
  run.Stores("worker-0", "tmpcd34").Renames("worker-0", "tmpcd34", "model");
  EXPECT_THAT(run.Of("worker").found, HasSubstr("overwrites its objects"));
  EXPECT_THAT(run.Of("worker").evidence, ElementsAre(HasSubstr("renamed to job/out/model")));
}

// Only one of two replicas can rename the file.
TEST(RoleChecks, AnObjectIsSharedUnderItsFirstName) {
  ARunOfRoles run;
  run.Stores("master-0", "model.tmp").Stores("worker-0", "model.tmp");
  run.Renames("worker-0", "model.tmp", "model");
  EXPECT_THAT(run.Of("worker").found, HasSubstr("overwrites its objects"));
}

TEST(RoleChecks, AnEvaluatorMayExport) {
  ARunOfRoles run;
  run.Stores("master-0", "export/17/saved_model.pb");
  run.Stores("evaluator-0", "export/23/saved_model.pb").Stores("ps-0", "export/24/saved_model.pb");
  EXPECT_EQ(run.Of("evaluator").verdict, CheckVerdict::kPass);
  EXPECT_EQ(run.Of("worker").verdict, CheckVerdict::kPass);
  EXPECT_EQ(run.Of("ps").verdict, CheckVerdict::kWarn);
}

TEST(RoleChecks, NamesOfReplicasAreLeftOut) {
  EXPECT_EQ(NameWithoutReplica("job/out/worker-0/export/17/x"), "job/out/export/#/x");
  EXPECT_EQ(NameWithoutReplica("job/workerpool1-0/model"), "job/model");
  EXPECT_EQ(NameWithoutReplica("job/workertemp_1/chiefly"), "job/workertemp_#/chiefly");
}

// Replicas that overwrite each other's objects end by chance. The verdicts must not.
TEST(RoleChecks, AreTheSameHoweverReplicasThatIgnoreTheirRoleEnd) {
  for (const char* failing : {"", "master-0", "worker-0", "worker-1", "ps-0", "evaluator-0"}) {
    ASession session;
    CheckRun run;
    run.launched.push_back({"master-0", 1, {}, {}});
    run.evidence.state = *failing ? "FAILED" : "SUCCEEDED";
    run.evidence.events = {Storage("master-0", 1, "create", "job/out/model"),
                           Storage("worker-0", 1, "create", "job/out/model")};
    if (*failing) run.evidence.events.push_back(Exit(failing, 1, 1));
    session->runs["chief"] = run;
    session->runs["master"] = run;
    EXPECT_EQ(EvaluateCheck(*FindCheck("roles/worker"), *session).verdict, CheckVerdict::kWarn)
        << failing;
    for (const char* other : {"chief", "master", "ps", "evaluator", "stop-with-master"}) {
      const CheckResult result = EvaluateCheck(*FindCheck("roles/" + std::string(other)), *session);
      EXPECT_EQ(result.verdict, CheckVerdict::kSkipped) << other << " " << failing;
      EXPECT_THAT(result.found, HasSubstr("see roles/worker"));
    }
  }
}

// Of two runs, only one may show it: the other may end before a worker writes.
TEST(RoleChecks, NameTheMastersWorkOfAWorkerInWhicheverRunItIsSeen) {
  for (const char* seen : {"chief", "master"}) {
    ASession session;
    for (const char* name : {"chief", "master"}) {
      CheckRun& run = session->runs[name];
      run.launched.push_back({"master-0", 1, {}, {}});
      run.evidence.state = "SUCCEEDED";
      run.evidence.events = {Storage("master-0", 1, "create", "job/out/model")};
    }
    session->runs[seen].evidence.events.push_back(
        Storage("worker-0", 1, "create", "job/out/model"));
    const CheckResult result = EvaluateCheck(*FindCheck("roles/worker"), *session);
    EXPECT_EQ(result.verdict, CheckVerdict::kWarn) << seen;
    EXPECT_THAT(result.found, HasSubstr("does the work of the master")) << seen;
    EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kSkipped);
  }
}

TEST(RoleChecks, AFailureOfARoleThatTheJobDoesNotUseIsAWarning) {
  ASession session;
  CheckRun run;
  run.launched.push_back({"master-0", 1, {}, {}});
  run.evidence.state = "FAILED";
  run.evidence.events = {Exit("ps-0", 1, 1)};
  session->runs["chief"] = run;
  EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kWarn);
  session->trainer.job.document = {{"scaleTier", "STANDARD_1"}};
  EXPECT_EQ(EvaluateCheck(*FindCheck("roles/ps"), *session).verdict, CheckVerdict::kFail);
}

}  // namespace
}  // namespace caip::harness
