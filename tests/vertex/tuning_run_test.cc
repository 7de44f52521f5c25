// Tuning jobs in the engine (docs/service/vertex.md, section 8): the trials that run, what they
// see, and what clients see of them, without processes.

#include <algorithm>

#include "tests/support/a_tuning_job.h"
#include "tests/support/golden.h"
#include "tests/support/small_world.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/render.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/training_pipeline.h"
#include "vertex/trials.h"

namespace caip::engine {
namespace {

using run::JobState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kStudyId[] = "9000004711000000000";
constexpr char kStudyImage[] = "us-docker.pkg.dev/p/images/train:v1";

struct TuningRun : ::testing::Test {
  TuningRun() {
    storage.buckets = {"bkt"};
    storage.objects = {"trainer-0.1.tar.gz"};
    world.launcher.images[kStudyImage] = {"/bin/train"};
    world.launcher.on_launch = [this](const ReplicaLaunch& launch) { launches.push_back(launch); };
    world.launcher.script = [this](const ReplicaLaunch& launch) {
      if (launch.key.replica.role != "workerpool0") return Script{.run_for = kForever};
      return script ? script(std::stoi(launch.key.run.trial)) : Script{};
    };
    world.Boot();
  }
  Result<run::Job> Submit(const Json& body, const std::string& id = kStudyId,
                          std::string_view collection = vertex::kTuningJobs) {
    return world.Submit(body, {"us-central1", id, std::string(collection)});
  }
  Json RunToTheEnd(const Json& body) {
    const auto job = Submit(body);
    EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
    world.RunUntilIdle();
    return Shown();
  }
  run::Job Stored(const std::string& id = kStudyId) { return *world.engine->Get("p", id); }
  Json Shown() {
    const auto shown = vertex::RenderTuningJob(Stored(), {.project_number = "123456789012"});
    EXPECT_TRUE(shown.ok()) << (shown.ok() ? "" : shown.error().message);
    return shown.ok() ? *shown : Json();
  }
  std::vector<std::string> StatesOfTrials(const Json& job) {
    std::vector<std::string> states;
    const Json* trials = Member(job, "trials");
    if (!trials) return states;
    for (const Json& trial : *trials) states.push_back(StringOr(trial, "state"));
    return states;
  }

  FakeStorage storage;
  vertex::TrainingApi api{
      {.service_account = "default@demo.iam.gserviceaccount.com", .project_number = "123456789012"},
      storage};
  MemoryStore store;
  SmallWorld world{api, store, kMorning};
  std::vector<ReplicaLaunch> launches;
  std::function<Script(int trial)> script;
};

TEST_F(TuningRun, GivesEachTrialItsValuesAndVariables) {
  Json body = vertex::AGridStudyJob();
  body["trialJobSpec"] = vertex::WithPools(vertex::AContainerJob(), {1})["jobSpec"];
  body["trialJobSpec"]["baseOutputDirectory"]["outputUriPrefix"] = "gs://bkt/out";
  EXPECT_EQ(RunToTheEnd(body)["state"], "JOB_STATE_SUCCEEDED");
  ASSERT_EQ(launches.size(), 6u) << "three trials of two replicas";
  for (const ReplicaLaunch& launch : launches) {
    const std::string trial = launch.key.run.trial;
    EXPECT_THAT(launch.Argv(), ElementsAre("/bin/train", "--epochs=2", "--layers", trial));
    EXPECT_THAT(launch.environment,
                IsSupersetOf({Pair("CLOUD_ML_TRIAL_ID", trial),
                              Pair("CLOUD_ML_HP_METRIC_TAG", std::string("accuracy")),
                              Pair("CLOUD_ML_JOB_ID", std::string(kStudyId)),
                              Pair("AIP_MODEL_DIR", "gs://bkt/out/" + trial + "/model/")}));
    EXPECT_THAT(launch.environment,
                Contains(Pair("CLUSTER_SPEC", HasSubstr("\"trial\":\"" + trial + "\""))));
  }
}

TEST_F(TuningRun, HasNoMoreTrialsThanMaxTrialCountIfMoreMayRunAtATime) {
  Json body = vertex::AGridStudyJob();
  body["maxTrialCount"] = 2;
  body["parallelTrialCount"] = 9;
  const Json job = RunToTheEnd(body);
  EXPECT_EQ(job["state"], "JOB_STATE_SUCCEEDED");
  EXPECT_EQ(job["trials"].size(), 2u);
  EXPECT_EQ(launches.size(), 2u);
}

TEST_F(TuningRun, APackageHasItsValuesAfterItsArguments) {
  Json body = vertex::AGridStudyJob();
  body["maxTrialCount"] = 1;
  body["trialJobSpec"] = vertex::APackageJob()["jobSpec"];
  EXPECT_EQ(RunToTheEnd(body)["state"], "JOB_STATE_SUCCEEDED");
  const std::vector<std::string> argv = launches.at(0).Argv();
  EXPECT_THAT(std::vector<std::string>(argv.begin() + 1, argv.end()),
              ElementsAre("-m", "trainer.task", "--epochs", "2", "--layers", "1"));
}

TEST_F(TuningRun, GivesConditionalParametersWhereTheyAreActive) {
  Json body = vertex::AStudyJob();
  body["maxTrialCount"] = 12;
  EXPECT_EQ(RunToTheEnd(body)["state"], "JOB_STATE_SUCCEEDED");
  size_t with_momentum = 0;
  for (const ReplicaLaunch& launch : launches) {
    const std::vector<std::string> argv = launch.Argv();
    const auto has = [&](const char* word) { return std::ranges::count(argv, word) == 1; };
    EXPECT_TRUE(has("--rate") && has("--units") && has("--batch") && has("--optimizer"));
    EXPECT_EQ(has("--momentum"), has("sgd"));
    with_momentum += has("--momentum");
  }
  EXPECT_GT(with_momentum, 0u);
  EXPECT_LT(with_momentum, launches.size());
}

TEST_F(TuningRun, IsShownWithItsTrials) {
  script = [](int trial) {
    Script does;
    if (trial == 2) does.exit_code = 1;
    if (trial != 2) does.reports = {ReportAt(4, 10 * trial, 0.25 * trial), ReportAt(5, 99, 0)};
    return does;
  };
  Json body = vertex::AGridStudyJob();
  body["maxFailedTrialCount"] = 2;
  body["studySpec"]["measurementSelectionType"] = "BEST_MEASUREMENT";
  body["studySpec"]["parameters"].push_back(
      vertex::FromText(R"({"parameterId": "kind", "categoricalValueSpec": {"values": ["07"]}})"));
  testing::ExpectGolden("vertex_tuning/job.json", PrettyJson(RunToTheEnd(body)) + "\n");
  const auto trials = vertex::TrialsAsJobs(Stored());
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  ASSERT_EQ(trials->size(), 3u);
  EXPECT_EQ(trials->front().key.job_id, "9000004711000000003") << "the newest first";
  const auto custom = vertex::RenderCustomJob((*trials)[1], {.project_number = "123456789012"});
  ASSERT_TRUE(custom.ok()) << custom.error().message;
  testing::ExpectGolden("vertex_tuning/trial_job.json", PrettyJson(*custom) + "\n");
}

TEST_F(TuningRun, CutsALongNameInTheNamesOfItsTrials) {
  Json body = vertex::AGridStudyJob();
  body["displayName"] = std::string(128, 'n');
  RunToTheEnd(body);
  const auto trials = vertex::TrialsAsJobs(Stored());
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  const auto custom = vertex::RenderCustomJob(trials->front(), {});
  ASSERT_TRUE(custom.ok()) << custom.error().message;
  EXPECT_EQ((*custom)["displayName"], std::string(120, 'n') + "-trial-3");
}

TEST_F(TuningRun, ALastMeasurementIsFinalUnlessTheBestIsWanted) {
  script = [](int) { return Script{.reports = {ReportAt(1, 1, 0.9), ReportAt(2, 2, 0.5)}}; };
  Json body = vertex::AGridStudyJob();
  const Json last = RunToTheEnd(body)["trials"][0]["finalMeasurement"];
  EXPECT_EQ(last["stepCount"], "2");
  EXPECT_EQ(last["metrics"], Json::array({{{"metricId", "accuracy"}, {"value", 0.5}}}));
}

TEST_F(TuningRun, TheFirstTrialThatFailsFailsTheJob) {
  script = [](int) { return Script{.exit_code = 3}; };
  const Json job = RunToTheEnd(vertex::AGridStudyJob());
  EXPECT_EQ(job["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(job["error"]["code"], 3);
  EXPECT_THAT(StringOr(job["error"], "message"),
              StartsWith("The only trial that has ended has failed. Trial 1 was the last: The "
                         "replica workerpool0-0 exited with a non-zero status of 3."));
  EXPECT_THAT(StatesOfTrials(job), ElementsAre("INFEASIBLE"));
  EXPECT_THAT(StringOr(job["trials"][0], "infeasibleReason"), StartsWith("The replica "));
}

TEST_F(TuningRun, MoreThanHalfOfItsTrialsMayNotFail) {
  script = [](int trial) { return Script{.exit_code = trial > 2 ? 1 : 0}; };
  Json body = vertex::AGridStudyJob();
  body["maxTrialCount"] = 9;
  const Json job = RunToTheEnd(body);
  EXPECT_EQ(job["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(job["trials"].size(), 5u) << "three of five";
  EXPECT_THAT(
      StringOr(job["error"], "message"),
      StartsWith("3 of the 5 trials that have ended have failed, which is more than half."));
}

TEST_F(TuningRun, ItsOwnNumberOfFailedTrialsCounts) {
  script = [](int) { return Script{.exit_code = 1}; };
  Json body = vertex::AGridStudyJob();
  body["maxFailedTrialCount"] = 2;
  const Json job = RunToTheEnd(body);
  EXPECT_EQ(job["trials"].size(), 2u);
  EXPECT_THAT(StringOr(job["error"], "message"),
              StartsWith("2 trials have failed, and maxFailedTrialCount is 2."));
}

TEST_F(TuningRun, TrialsThatRunAreActiveAndStopWithTheirJob) {
  script = [](int) { return Script{.run_for = std::chrono::hours(1)}; };
  Json body = vertex::AGridStudyJob();
  body["parallelTrialCount"] = 2;
  ASSERT_TRUE(Submit(body).ok());
  while (StatesOfTrials(Shown()) != std::vector<std::string>{"ACTIVE", "ACTIVE"}) {
    ASSERT_TRUE(world.Step());
  }
  EXPECT_EQ(Shown()["state"], "JOB_STATE_RUNNING");
  EXPECT_FALSE(Shown()["trials"][0].contains("endTime"));
  world.engine->CancelLater("p", kStudyId, [](const Status&) {});
  world.engine->Turn();
  EXPECT_EQ(Shown()["state"], "JOB_STATE_CANCELLING");
  EXPECT_THAT(StatesOfTrials(Shown()), ElementsAre("STOPPING", "STOPPING"));
  world.RunUntilIdle();
  EXPECT_EQ(Shown()["state"], "JOB_STATE_CANCELLED");
  EXPECT_EQ(Shown()["error"]["code"], 1);
  EXPECT_THAT(StatesOfTrials(Shown()), ElementsAre("INFEASIBLE", "INFEASIBLE"));
}

TEST_F(TuningRun, ContinuesAfterTheEmulatorWasKilled) {
  ASSERT_TRUE(Submit(vertex::AGridStudyJob()).ok());
  while (launches.size() < 2 && world.Step()) {
  }
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(Shown()["state"], "JOB_STATE_SUCCEEDED");
  EXPECT_THAT(StatesOfTrials(Shown()), ElementsAre("SUCCEEDED", "SUCCEEDED", "SUCCEEDED"));
}

TEST_F(TuningRun, NamesWhatIsMissingUnderItsOwnFields) {
  Json body = vertex::AStudyJob();
  body["trialJobSpec"] = vertex::APackageJob()["jobSpec"];
  storage.objects.clear();
  EXPECT_THAT(Submit(body).error().message,
              HasSubstr("1.Field: trial_job_spec.worker_pool_specs[0].python_package_spec."
                        "package_uris; Message: The package"));
}

TEST_F(TuningRun, WorksForAPipeline) {
  Json inputs = vertex::AGridStudyJob();
  inputs.erase("displayName");
  inputs["maxTrialCount"] = 2.0;
  const Json pipeline = {{"displayName", "census"},
                         {"trainingTaskDefinition", "gs://x/hyperparameter_tuning_task_1.0.0.yaml"},
                         {"trainingTaskInputs", inputs}};
  script = [](int trial) { return Script{.reports = {ReportAt(1, 1, trial)}}; };
  ASSERT_TRUE(Submit(pipeline, "4711", vertex::kTrainingPipelines).ok());
  world.RunUntilIdle();
  const std::string id = vertex::BackingTuningJobId("4711");
  const auto shown = vertex::RenderTrainingPipeline(Stored(id), {.project_number = "1"});
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  EXPECT_EQ((*shown)["state"], "PIPELINE_STATE_SUCCEEDED");
  EXPECT_EQ((*shown)["name"], "projects/1/locations/us-central1/trainingPipelines/4711");
  EXPECT_EQ((*shown)["trainingTaskMetadata"],
            (Json{{"backingHyperparameterTuningJob",
                   "projects/1/locations/us-central1/hyperparameterTuningJobs/" + id},
                  {"bestTrialBackingCustomJob",
                   "projects/1/locations/us-central1/customJobs/" + vertex::TrialJobId(id, "2")}}));
  Json broken = pipeline;
  broken["trainingTaskInputs"]["studySpec"].erase("metrics");
  EXPECT_THAT(Submit(broken, "4712", vertex::kTrainingPipelines).error().message,
              HasSubstr("1.Field: training_task_inputs.study_spec.metrics; Message: "));
}

}  // namespace
}  // namespace caip::engine
