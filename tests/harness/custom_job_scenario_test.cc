// Scenarios of custom jobs of Vertex AI.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_replicas.h"
#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kCommand = "description: d\ntrainer: {command: [python3, t.py]}\n";
const std::string kTwoPools = kCommand + R"(
job:
  custom_job:
    workerPoolSpecs:
      - {}
      - {machineSpec: {machineType: n1-standard-4}, replicaCount: 2}
)";

Json DocumentOf(const std::string& job) {
  const auto read = Read(kCommand + job);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? read->document : Json();
}

TEST(CustomJobScenario, NamesReplicasByTheirPools) {
  const auto read = Read(kTwoPools + "faults: [{kill: {replica: workerpool1-1}, when: {step: 3}}]");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kind, &CustomJobs());
  EXPECT_EQ(read->faults[0].replica, "workerpool1-1");
  EXPECT_THAT(FindReplicas(*read), ElementsAre("workerpool0-0", "workerpool1-0", "workerpool1-1"));
}

TEST(CustomJobScenario, ReportsReplicasThatTheJobDoesNotHave) {
  const auto mistakes = [](const std::string& replica) {
    return Mistakes(kTwoPools + "faults: [{kill: {replica: " + replica + "}, when: {step: 3}}]");
  };
  EXPECT_EQ(mistakes("workerpool0"), "");
  EXPECT_THAT(mistakes("workerpool2-0"), HasSubstr("the job has no workerpool2-0"));
  EXPECT_THAT(mistakes("ps-0"), HasSubstr("the job has no workerpool2-0"));
  EXPECT_THAT(mistakes("workerpool4-0"), HasSubstr("is not a valid replica"));
}

TEST(CustomJobScenario, NamesReplicasByTheirRolesInTfConfig) {
  const auto read = Read(kTwoPools +
                         "faults: [{kill: {replica: worker-1}, when: {step: 3, replica: chief}}]\n"
                         "expect: {steps: {master: 1..3}}");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->faults[0].replica, "workerpool1-1");
  EXPECT_EQ(read->faults[0].when.replica, "workerpool0-0");
  EXPECT_EQ(NameInPools("ps-2"), "workerpool2-2");
  EXPECT_EQ(NameInPools("evaluator"), "workerpool3-0");
  EXPECT_EQ(NameInPools("workerpool1-1"), "workerpool1-1");
}

TEST(CustomJobScenario, KeepsValuesThatTheServiceRefuses) {
  for (const char* zero : {"0", "'0'"}) {
    const Json document =
        DocumentOf("job: {custom_job: {workerPoolSpecs: [{replicaCount: " + std::string(zero) +
                   "}, {replicaCount: 0}]}}");
    const Json job = CustomJobs().Complete(document, {.image = "gcr.io/p/i"});
    for (const Json& pool : job["jobSpec"]["workerPoolSpecs"]) {
      EXPECT_EQ(pool["replicaCount"], "0") << job;
    }
  }
}

TEST(CustomJobScenario, MayBeAResourceOrItsSpecificationInAnySpelling) {
  const Json spec = DocumentOf("job: {custom_job: {scheduling: {strategy: SPOT}}}");
  EXPECT_EQ(StringOr(spec, "displayName"), "scenario");
  EXPECT_EQ(DocumentOf("job: {custom_job: {jobSpec: {scheduling: {strategy: SPOT}}}}"), spec);
  EXPECT_EQ(DocumentOf("job: {custom_job: {job_spec: {scheduling: {strategy: 4}}}}"), spec);
  EXPECT_EQ(DocumentOf("job: {custom_job: {displayName: x}}"), Json({{"displayName", "x"}}));
  const std::string pool = "{machineSpec: {machineType: n1-standard-4}, replicaCount: 1}";
  EXPECT_EQ(DocumentOf("job: {custom_job: {workerPoolSpecs: " + pool + "}}"),
            DocumentOf("job: {custom_job: {worker_pool_specs: [" + pool + "]}}"));
}

TEST(CustomJobScenario, ReportsUnknownFields) {
  const std::string text = Mistakes(kCommand + "job: {custom_job: {sheduling: {}}}");
  EXPECT_THAT(text, HasSubstr("s.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("sheduling"));
}

TEST(CustomJobScenario, IsTheOnlyJob) {
  EXPECT_THAT(Mistakes(kCommand + "job: {custom_job: {}, config: {scaleTier: BASIC}}"),
              HasSubstr("a scenario has one job"));
  EXPECT_THAT(Mistakes(kCommand + "job: {custom_job: {}, create: [--config=c.yaml]}"),
              HasSubstr("a scenario has one job"));
  EXPECT_THAT(Mistakes("description: d\ntrainer: {command: [python3, t.py], ranks: 2}\n"
                       "job: {custom_job: {}}\n"),
              HasSubstr("worker pools"));
}

TEST(CustomJobScenario, HasTheStatesOfItsService) {
  const auto mistakes = [](const std::string& expect) {
    return Mistakes(kTwoPools + "expect: " + expect);
  };
  EXPECT_EQ(mistakes("{state: JOB_STATE_FAILED, error_matches: x}"), "");
  EXPECT_EQ(mistakes("{states: [JOB_STATE_QUEUED, JOB_STATE_PENDING, JOB_STATE_RUNNING, "
                     "JOB_STATE_SUCCEEDED], at: {JOB_STATE_PENDING: 1m..}}"),
            "");
  EXPECT_THAT(mistakes("{state: JOB_STATE_SUCCEEDED, error_matches: x}"), HasSubstr("error"));
  EXPECT_THAT(mistakes("{state: JOB_STATE_DONE}"), HasSubstr("SUCCEEDED"));
}

TEST(CustomJobScenario, OnSpotMachinesMayBeTriedTenTimes) {
  const std::string spot = kCommand + "job: {custom_job: {scheduling: {strategy: SPOT}}}\n";
  EXPECT_EQ(Mistakes(spot + "expect: {attempts: 10}"), "");
  EXPECT_THAT(Mistakes(spot + "expect: {attempts: 11}"), HasSubstr("10"));
  EXPECT_THAT(Mistakes(kTwoPools + "expect: {attempts: 5}"), HasSubstr("4"));
}

TEST(CustomJob, GetsWhatARunNeedsAndNothingElse) {
  const Json document = DocumentOf(
      "job: {custom_job: {workerPoolSpecs: [{}, {}, {replicaCount: 2, "
      "pythonPackageSpec: {executorImageUri: E, packageUris: [gs://b/p], pythonModule: m}}]}}");
  const Json job = CustomJobs().Complete(
      document, {.image = "gcr.io/p/i", .arguments = {"--x"}, .output_directory = "gs://job/out"});
  const Json& spec = job["jobSpec"];
  EXPECT_EQ(CustomJobs().OutputDirectoryOf(job), "gs://job/out");
  ASSERT_EQ(spec["workerPoolSpecs"].size(), 3u);
  EXPECT_EQ(spec["workerPoolSpecs"][0]["containerSpec"]["imageUri"], "gcr.io/p/i");
  EXPECT_EQ(spec["workerPoolSpecs"][0]["containerSpec"]["args"], Json::array({"--x"}));
  EXPECT_TRUE(spec["workerPoolSpecs"][1].empty());  // skipped
  EXPECT_FALSE(spec["workerPoolSpecs"][2].contains("containerSpec"));
  EXPECT_EQ(spec["workerPoolSpecs"][2]["pythonPackageSpec"]["args"], Json::array({"--x"}));
  EXPECT_THAT(CustomJobs().ReplicasOf(job),
              ElementsAre("workerpool0-0", "workerpool2-0", "workerpool2-1"));
}

TEST(CustomJob, GetsPoolsForEveryRole) {
  Json job = CustomJobs().Complete(nullptr, {.image = "gcr.io/p/i"});
  EXPECT_FALSE(HasCluster(CustomJobs(), job));
  CustomJobs().AddEveryRole(job, true);
  for (const char* role : {"master", "worker", "ps", "evaluator"}) {
    EXPECT_TRUE(CustomJobs().HasRole(job, role)) << role;
  }
  EXPECT_THAT(CustomJobs().ImagesOf(job), ElementsAre("gcr.io/p/i"));
  CustomJobs().RemoveImages(job);
  EXPECT_THAT(CustomJobs().ImagesOf(job), IsEmpty());
}

TEST(FailFault, RunsTheProgramAgainInCustomJobsOnly) {
  const auto read = Read(kTwoPools + "faults: [{fail: {replica: workerpool0}, when: {step: 3}}]");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(RunsAgain(read->faults[0], {}), std::chrono::seconds(8)) << "of 10s without progress";
  const Limits slow = {.wall = std::chrono::hours(1), .no_progress = std::chrono::hours(1)};
  EXPECT_EQ(RunsAgain(read->faults[0], slow), kFailingRestart);
  EXPECT_THAT(Mistakes(kCommand + "faults: [{fail: {replica: master, runs_again: 30s}, "
                                  "when: {step: 3}}]"),
              HasSubstr("belongs to custom jobs"));
  EXPECT_THAT(Mistakes(kCommand + "mood: {failing_restart: 30s}"),
              HasSubstr("belongs to custom jobs"));
}

TEST(FailFault, OfAPackageHasNoStatusAfterWhichTheJobIsTriedAgain) {
  const std::string fault = "faults: [{fail: {replica: workerpool0, status: 11}, when: {step: 3}}]";
  EXPECT_EQ(Mistakes(kTwoPools + fault), "") << "a container fails with any status";
  EXPECT_THAT(Mistakes("description: d\njob: {custom_job: {workerPoolSpecs: [{pythonPackageSpec: "
                       "{executorImageUri: E, packageUris: [gs://b/p], pythonModule: m}}]}}\n" +
                       fault),
              HasSubstr("is that of a signal"));
}

}  // namespace
}  // namespace caip::harness
