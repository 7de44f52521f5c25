// The engine with an API of three words (tests/support/sleepers_api.h), which has nothing in common
// with AI Platform Training.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sleepers_api.h"
#include "tests/support/small_world.h"

namespace caip::engine {
namespace {

using run::JobState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const run::ReplicaId kSecondSleeper{"sleeper", 1};

struct SecondApi : ::testing::Test {
  SecondApi() {
    world.launcher.on_launch = [this](const ReplicaLaunch& launch) { launches.push_back(launch); };
    // The first sleeper wakes up after ten seconds; the others sleep until they are stopped.
    world.launcher.script = [](const ReplicaLaunch& launch) {
      Script script;
      if (launch.key.replica.index > 0) script.run_for = kForever;
      return script;
    };
    world.Boot();
  }
  Json Nap(int sleepers) { return {{"name", "nap"}, {"sleepers", sleepers}}; }

  SleepersApi api;
  MemoryStore store;
  SmallWorld world{api, store, kMorning};
  std::vector<ReplicaLaunch> launches;
};

TEST_F(SecondApi, TurnsADocumentIntoReplicas) {
  ASSERT_TRUE(world.Submit(Nap(3)).ok());
  ASSERT_TRUE(world.RunUntilState("nap", JobState::kRunning));
  ASSERT_EQ(launches.size(), 3u);
  const ReplicaLaunch& second = launches[1];
  EXPECT_EQ(second.key.replica, kSecondSleeper);
  EXPECT_EQ(second.task, "sleeper-replica-1");
  EXPECT_THAT(second.Argv(), ElementsAre("/bin/sleep", "8h", "--bed=1"));
  EXPECT_THAT(second.environment, Contains(Pair("SLEEPERS", "3")));
  EXPECT_THAT(second.environment,
              Contains(Pair("FIRST", launches[0].machine.peers[0].host + ":2222")));
  EXPECT_THAT(second.user_directories, ElementsAre("pillow"));
  EXPECT_EQ(second.working_directory, "bedroom");
  EXPECT_EQ(second.machine.host_name, "sleeper-nap-1");
  EXPECT_EQ(second.machine.region, "attic");
  EXPECT_EQ(second.machine.machine_type, "bed");
}

TEST_F(SecondApi, HasItsJobsRunToTheirEnd) {
  std::vector<std::string> states;
  const auto watch = world.engine->Watch([&](const run::Job& job) {
    const std::string state(Name(job.state));
    if (states.empty() || states.back() != state) states.push_back(state);
  });
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  world.RunUntilIdle();
  EXPECT_THAT(states, ElementsAre("QUEUED", "PREPARING", "RUNNING", "SUCCEEDED"));
  const auto job = world.engine->Get("p", "nap");
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(*job->document, Nap(2)) << "the engine does not touch it";
  EXPECT_TRUE(job->end_time.has_value());
  EXPECT_THAT(world.log.Of("nap", "service"), Contains("All of nap sleep."));
}

TEST_F(SecondApi, HasNoTrials) {
  ASSERT_TRUE(world.Submit(Nap(1)).ok());
  world.RunUntilIdle();
  EXPECT_THAT(*world.engine->Trials("p", "nap"), IsEmpty());
  EXPECT_EQ(*world.engine->Get("p", "nap")->document, Nap(1));
}

TEST_F(SecondApi, RefusesADocumentInItsOwnWords) {
  const auto refused = world.Submit(Nap(9));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "The house has eight beds.");
  EXPECT_EQ(refused.error().violations.at(0).field, "sleepers");
  EXPECT_TRUE(store.InOrder().empty());
}

TEST_F(SecondApi, NamesTheFieldOfAProgramThatTheLauncherCannotRun) {
  Json document = Nap(1);
  document["image"] = "registry/bed:1";
  EXPECT_EQ(world.Submit(document).error().violations.at(0).field, "image");
  world.launcher.images["registry/bed:1"] = {"/bin/bed"};
  ASSERT_TRUE(world.Submit(document).ok());
  world.RunUntilIdle();
  EXPECT_THAT(launches.at(0).Argv(), ElementsAre("/bin/bed", "--bed=0"));
}

TEST_F(SecondApi, AnswersForJobsInItsOwnWords) {
  EXPECT_EQ(world.engine->Get("p", "nap").error().message, "No such sleepers.");
  ASSERT_TRUE(world.Submit(Nap(1)).ok());
  EXPECT_EQ(world.Submit(Nap(2)).error().message, "These sleepers sleep already.");
}

TEST_F(SecondApi, GetsTheSharedTextsWhereItHasNone) {
  world.launcher.script = [](const ReplicaLaunch& launch) {
    Script script;
    script.exit_code = launch.key.replica == kSecondSleeper ? 3 : 0;
    script.run_for = std::chrono::seconds(launch.key.replica == kSecondSleeper ? 1 : 10);
    return script;
  };
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  world.RunUntilIdle();
  const auto job = world.engine->Get("p", "nap");
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(job->error_message, "The replica sleeper 1 exited with a non-zero status of 3.");
}

TEST_F(SecondApi, HasLostReplicasRestarted) {
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  ASSERT_TRUE(world.RunUntilState("nap", JobState::kRunning));
  world.engine->LoseVmLater({"p", "nap", ""}, kSecondSleeper, VmLoss::kKill, [](const Status&) {});
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("nap"), JobState::kSucceeded);
  EXPECT_EQ(launches.back().key.replica, kSecondSleeper);
  EXPECT_EQ(launches.back().key.boot, 2);
  EXPECT_THAT(world.log.Of("nap", "service"), Contains(HasSubstr("sleeper 1")));
}

TEST_F(SecondApi, MayNameItsJobsItselfAndPutThemIntoALocation) {
  const auto job = world.Submit(Nap(2), {"attic", "4711"});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->key, (RunKey{"p", "4711", "", "attic"}));
  ASSERT_TRUE(world.RunUntilState("4711", JobState::kRunning));
  EXPECT_EQ(world.engine->Get("p", "4711")->key.location, "attic");
}

TEST_F(SecondApi, FindsAJobByItsProjectAndIdAlone) {
  ASSERT_TRUE(world.Submit(Nap(2), {"attic", "4711"}).ok());
  ASSERT_TRUE(world.Submit(Nap(2), {"cellar", "4712"}).ok());
  ASSERT_TRUE(world.RunUntilState("4711", JobState::kRunning));
  ASSERT_TRUE(world.RunUntilState("4712", JobState::kRunning));
  Status lost = Ok{};
  world.engine->LoseVmLater({"p", "4711", ""}, kSecondSleeper, VmLoss::kKill,
                            [&](const Status& status) { lost = status; });
  world.engine->CancelLater("p", "4712", [](const Status&) {});
  world.RunUntilIdle();
  EXPECT_TRUE(lost.ok()) << lost.error().message;
  EXPECT_EQ(world.StateOf("4711"), JobState::kSucceeded);
  EXPECT_EQ(world.StateOf("4712"), JobState::kCancelled);
  EXPECT_EQ(world.engine->Get("p", "4712")->end_cause, run::EndCause::kCancelled);
}

TEST_F(SecondApi, HasJobsWithALocationRecovered) {
  ASSERT_TRUE(world.Submit(Nap(2), {"attic", "4711"}).ok());
  ASSERT_TRUE(world.RunUntilState("4711", JobState::kRunning));
  world.KillEmulator();
  world.Boot();
  world.engine->CancelLater("p", "4711", [](const Status&) {});
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("4711"), JobState::kCancelled);
}

TEST_F(SecondApi, MayHaveTheWholeJobRestartedAfterEachLossOfAMachine) {
  Json document = Nap(2);
  document["losses"] = 2;
  ASSERT_TRUE(world.Submit(document).ok());
  for (int loss = 0; loss < 3; ++loss) {
    while (launches.size() < 2u * (loss + 1) && world.Step()) {
    }
    ASSERT_EQ(launches.size(), 2u * (loss + 1)) << "both replicas start again";
    ASSERT_TRUE(world.RunUntilState("nap", JobState::kRunning)) << loss;
    world.engine->LoseVmLater({"p", "nap", ""}, kSecondSleeper, VmLoss::kKill,
                              [](const Status&) {});
    world.engine->Turn();
  }
  world.RunUntilIdle();
  const auto job = world.engine->Get("p", "nap");
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(job->end_cause, run::EndCause::kMachineLost);
  EXPECT_THAT(world.log.Of("nap", "service"), Contains(HasSubstr("tried again (2 of 2)")));
}

TEST_F(SecondApi, MayHaveItsJobsFailThatWaitTooLong) {
  Json document = Nap(1);
  document["patience"] = 5;
  world.launcher.script = [](const ReplicaLaunch&) {
    return Script{.start_after = std::chrono::seconds(9)};
  };
  ASSERT_TRUE(world.Submit(document).ok());
  world.RunUntilIdle();
  const auto job = world.engine->Get("p", "nap");
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(job->end_cause, run::EndCause::kWaitedTooLong);
}

TEST_F(SecondApi, MayRunPackagesInOneGroupOnly) {
  Json document = Nap(1);
  document["package"] = "gs://house/reader.tar.gz";
  ASSERT_TRUE(world.Submit(document).ok());
  world.RunUntilIdle();
  ASSERT_EQ(world.packager.requests().size(), 1u);
  const PrepareRequest& request = world.packager.requests()[0];
  EXPECT_THAT(request.package_uris, ElementsAre("gs://house/reader.tar.gz"));
  EXPECT_EQ(request.python_version, "3.10");
  EXPECT_THAT(request.log_tasks, ElementsAre("reader-replica-0"));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_THAT(launches[0].Argv(), ElementsAre("/bin/sleep", "8h", "--bed=0"));
  EXPECT_EQ(launches[1].Argv().at(2), "reader.task");
}

TEST_F(SecondApi, HasUnfinishedJobsRecovered) {
  ASSERT_TRUE(world.Submit(Nap(2)).ok());
  ASSERT_TRUE(world.RunUntilState("nap", JobState::kRunning));
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("nap"), JobState::kSucceeded);
  EXPECT_EQ(launches.size(), 4u);
  EXPECT_EQ(launches.back().machine.host_name, "sleeper-nap-1") << "the same after a restart";
}

/// A second house, beside the first.
class GuestHouseApi final : public run::ApiPort {
 public:
  std::string_view name() const override { return "guests"; }
  Result<run::AcceptedJob> Accept(const run::JobRequest& request) const override {
    return sleepers_.Accept(request);
  }
  Status Probe(const run::AcceptedJob& job, const run::JobRequest& request,
               std::vector<FieldViolation> refused) const override {
    return sleepers_.Probe(job, request, std::move(refused));
  }
  Result<std::shared_ptr<const run::ApiJob>> Open(const run::Document& document) const override {
    return sleepers_.Open(document);
  }
  run::RunNames MakeNames(Random&) const override { return {"guests", "tenant"}; }
  Error JobNotFound() const override { return {Code::kNotFound, "No such guests."}; }
  Error JobAlreadyExists() const override { return {Code::kAlreadyExists, "The room is taken."}; }

 private:
  SleepersApi sleepers_;
};

struct TwoApis : SecondApi {
  TwoApis() {
    world.more_apis = {&guest_house};
    world.KillEmulator();
    world.Boot();
  }
  run::JobPlace Room(const std::string& id) {
    return {.location = "cellar", .new_id = id, .api = "guests"};
  }
  std::vector<std::string> Listed(const JobQuery& query) {
    std::vector<std::string> ids;
    const auto jobs = world.engine->List(query);
    for (const run::Job& job : *jobs) ids.push_back(job.key.job_id);
    return ids;
  }

  GuestHouseApi guest_house;
};

TEST_F(TwoApis, RunTheirJobsSideBySide) {
  ASSERT_TRUE(world.Submit(Nap(1)).ok());
  ASSERT_TRUE(world.Submit(Nap(1), Room("7")).ok());
  world.RunUntilIdle();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].machine.host_name, "sleeper-nap-0");
  EXPECT_EQ(launches[1].machine.host_name, "sleeper-guests-0");
  EXPECT_EQ(launches[1].key.run.location, "cellar");
  EXPECT_EQ(world.StateOf("7"), JobState::kSucceeded);
}

TEST_F(TwoApis, ListOnlyTheirOwnJobs) {
  ASSERT_TRUE(world.Submit(Nap(1)).ok());
  ASSERT_TRUE(world.Submit(Nap(1), Room("7")).ok());
  EXPECT_THAT(Listed({.project = "p"}), ElementsAre("nap"));
  EXPECT_THAT(Listed({.project = "p", .api = "guests", .location = "cellar"}), ElementsAre("7"));
  EXPECT_THAT(Listed({.project = "p", .api = "guests", .location = "attic"}), IsEmpty());
  EXPECT_THAT(Listed({.project = "", .api = "guests", .location = "cellar"}), ElementsAre("7"));
  EXPECT_EQ(world.engine->FindInAnyProject("7")->key.project, "p");
  EXPECT_EQ(world.engine->FindInAnyProject("nap").error().code, Code::kNotFound);
}

TEST_F(TwoApis, HaveTheirUnfinishedJobsRecovered) {
  ASSERT_TRUE(world.Submit(Nap(2), Room("7")).ok());
  ASSERT_TRUE(world.RunUntilState("7", JobState::kRunning));
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(world.StateOf("7"), JobState::kSucceeded);
  EXPECT_EQ(launches.back().machine.host_name, "sleeper-guests-1");
}

TEST_F(TwoApis, WordTheirOwnErrors) {
  ASSERT_TRUE(world.Submit(Nap(1), Room("7")).ok());
  const auto again = world.Submit(Nap(1), Room("7"));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "The room is taken.");
  const auto unknown = world.engine->Check("p", Nap(1), {}, {.api = "hotel"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kUnimplemented);
}

}  // namespace
}  // namespace caip::engine
