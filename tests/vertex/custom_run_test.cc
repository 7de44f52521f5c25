// Custom jobs in the engine (docs/service/vertex.md, sections 4, 6 and 10): names, environments,
// restarts, log lines and errors, without processes.

#include "tests/support/small_world.h"
#include "tests/vertex/a_custom_job.h"
#include "vertex/custom_training_job.h"
#include "vertex/render.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/to_run_spec.h"
#include "vertex/training_api.h"

namespace caip::engine {
namespace {

using run::JobState;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kId[] = "8501620632646057984";
constexpr char kImage[] = "us-docker.pkg.dev/p/images/train:v1";
const run::ReplicaId kChief{"workerpool0", 0};
const run::ReplicaId kSecondWorker{"workerpool1", 1};

struct CustomRun : ::testing::Test {
  CustomRun() {
    storage.buckets = {"bkt"};
    storage.objects = {"trainer-0.1.tar.gz"};
    world.launcher.images[kImage] = {"/bin/train"};
    world.launcher.on_launch = [this](const ReplicaLaunch& launch) { launches.push_back(launch); };
    world.launcher.script = [this](const ReplicaLaunch& launch) {
      if (launch.key.replica == kChief) return chief;
      return Script{.run_for = kForever};
    };
    world.Boot();
  }
  Result<run::Job> Submit(const Json& body) { return world.Submit(body, {"us-central1", kId}); }
  void RunToTheEnd(const Json& body) {
    const auto job = Submit(body);
    ASSERT_TRUE(job.ok()) << job.error().message;
    world.RunUntilIdle();
  }
  Json Shown() {
    const auto job = world.engine->Get("p", kId);
    EXPECT_TRUE(job.ok());
    const auto shown = vertex::RenderCustomJob(*job, {.project_number = "123456789012"});
    EXPECT_TRUE(shown.ok());
    return *shown;
  }
  std::string Message() { return StringOr(Shown()["error"], "message"); }
  int ErrorCode() { return static_cast<int>(IntOr(Shown()["error"], "code", 0)); }
  std::vector<std::string> Log(const std::string& task) { return world.log.Of(kId, task); }
  const ReplicaLaunch& LaunchOf(const run::ReplicaId& replica) {
    for (const ReplicaLaunch& launch : launches) {
      if (launch.key.replica == replica) return launch;
    }
    ADD_FAILURE() << "not launched";
    return launches.front();
  }
  void Lose(const run::ReplicaId& replica) {
    world.engine->LoseVmLater({"p", kId, ""}, replica, VmLoss::kKill, [](const Status&) {});
    world.engine->Turn();
  }

  FakeStorage storage;
  vertex::TrainingApi api{
      {.service_account = "default@demo.iam.gserviceaccount.com", .project_number = "123456789012"},
      storage};
  MemoryStore store;
  SmallWorld world{api, store, kMorning};
  std::vector<ReplicaLaunch> launches;
  Script chief = {};
};

TEST_F(CustomRun, AContainerJobRunsUnderTheNamesOfItsPools) {
  RunToTheEnd(vertex::WithPools(vertex::AContainerJob(), {2}));
  EXPECT_EQ(Shown()["state"], "JOB_STATE_SUCCEEDED");
  EXPECT_EQ(Shown()["name"],
            "projects/123456789012/locations/us-central1/customJobs/8501620632646057984");
  ASSERT_EQ(launches.size(), 3u);
  const ReplicaLaunch& worker = LaunchOf(kSecondWorker);
  EXPECT_EQ(worker.task, "workerpool1-1");
  EXPECT_THAT(worker.machine.host_name, StartsWith("cmle-training-workerpool1-"));
  EXPECT_EQ(worker.machine.region, "us-central1");
  EXPECT_EQ(worker.buckets_at, "/gcs");
  EXPECT_EQ(worker.log_reader, run::LogReader::kContainer);
  EXPECT_THAT(worker.Argv(), ElementsAre("/bin/train", "--epochs=2"))
      << "no --job-dir, and no flag of the service";
  EXPECT_THAT(
      worker.environment,
      IsSupersetOf({Pair("CLOUD_ML_JOB_ID", kId), Pair("CLOUD_ML_PROJECT_ID", "123456789012"),
                    Pair("CLOUD_ML_JOB_SA", "default@demo.iam.gserviceaccount.com"),
                    Pair("AIP_USE_CUSTOM_CONTAINER", "true")}));
  EXPECT_THAT(worker.environment, Contains(Key("TF_CONFIG")));
}

TEST_F(CustomRun, SeesTheDirectoriesThatStandForItsNfsExports) {
  Json body = vertex::WithPools(vertex::AContainerJob(), {1});
  body["jobSpec"]["workerPoolSpecs"][0]["nfsMounts"] = vertex::FromText(
      R"([{"server": "10.0.0.2", "path": "/data/", "mountPoint": "in"},
          {"server": "10.0.0.2", "path": "/data/a/b", "mountPoint": "/mnt/nfs/deep/"},
          {"server": "10.0.0.3", "path": "/", "mountPoint": "other"}])");
  const auto job = vertex::ParseCustomJob(body);
  ASSERT_TRUE(job.ok()) << job.error().message;
  const auto custom = std::make_shared<const vertex::CustomTrainingJob>(
      *job, vertex::ToRunSpec(*job->spec, "us-central1", vertex::DefaultCatalog()),
      vertex::ServiceFacts{"1", "a@b", {{"10.0.0.2:/data", "/srv/nfs"}}});
  run::RunFacts facts;
  facts.key = {"p", kId, ""};
  const auto run = custom->Begin(std::move(facts));
  EXPECT_THAT(run->SetUp({kChief, "", ""}).mounts,
              ElementsAre(run::ShownDirectory{"/srv/nfs", "/mnt/nfs/in"},
                          run::ShownDirectory{"/srv/nfs/a/b", "/mnt/nfs/deep"},
                          run::ShownDirectory{"", "/mnt/nfs/other"}))
      << "the settings no longer name the last one";
  EXPECT_THAT(run->SetUp({{"workerpool1", 0}, "", ""}).mounts, IsEmpty()) << "another pool";
}

TEST_F(CustomRun, TheServiceReportsItsPhases) {
  RunToTheEnd(vertex::AContainerJob());
  EXPECT_THAT(
      Log("service"),
      ElementsAre("Waiting for job to be provisioned.", StartsWith("The seed of this run is "),
                  "Vertex AI is provisioning job running framework. First time usage might take "
                  "couple of minutes, and subsequent runs can be much faster.",
                  "Vertex AI is setting up this job.", "Waiting for training program to start.",
                  "Job is preparing.", "Job is running.", "Tearing down training program.",
                  "Finished tearing down training program.", "Job completed successfully."));
  EXPECT_THAT(Log("workerpool0-0"), IsEmpty()) << "a container has no launcher";
}

TEST_F(CustomRun, ALostReplicaStartsAgainWithTheSameEnvironment) {
  chief.run_for = std::chrono::hours(1);
  ASSERT_TRUE(Submit(vertex::WithPools(vertex::AContainerJob(), {2})).ok());
  ASSERT_TRUE(world.RunUntilState(kId, JobState::kRunning));
  Lose(kSecondWorker);
  world.RunUntilIdle();
  EXPECT_EQ(Shown()["state"], "JOB_STATE_SUCCEEDED");
  ASSERT_EQ(launches.size(), 4u);
  EXPECT_EQ(launches.back().key.replica, kSecondWorker);
  EXPECT_EQ(launches.back().key.boot, 2);
  EXPECT_EQ(launches.back().environment, LaunchOf(kSecondWorker).environment);
  EXPECT_EQ(launches.back().machine.host_name, LaunchOf(kSecondWorker).machine.host_name);
  EXPECT_THAT(Log("service"), Contains(HasSubstr("The machine of workerpool1-1 is lost.")));
}

TEST_F(CustomRun, APackageIsStartedByTheLauncher) {
  RunToTheEnd(vertex::APackageJob());
  const PrepareRequest& request = world.packager.requests().at(0);
  EXPECT_EQ(request.python_version, "3.10");
  EXPECT_EQ(request.software_version, "tf-cpu.2-11.py310");
  EXPECT_THAT(request.package_uris, ElementsAre("gs://bkt/trainer-0.1.tar.gz"));
  const std::vector<std::string> argv = LaunchOf(kChief).Argv();
  EXPECT_THAT(std::vector<std::string>(argv.begin() + 1, argv.end()),
              ElementsAre("-m", "trainer.task", "--epochs", "2"));
  EXPECT_EQ(LaunchOf(kChief).working_directory, "user_dir");
  EXPECT_THAT(Log("workerpool0-0"),
              ElementsAre(StartsWith("Updating master address to local address "
                                     "cmle-training-workerpool0-"),
                          "Running run_module.py",
                          StartsWith("Running task with arguments: --cluster={\"chief\": "),
                          "Running module trainer.task.",
                          "Running command: python3 -m trainer.task --epochs 2",
                          "Task completed. Exit code (0). Exit reason (SUCCEEDED)"));
}

TEST_F(CustomRun, AFailedPackageLeavesItsExitAndItsTraceback) {
  chief.exit_code = 1;
  chief.traceback = "Traceback (most recent call last):\nValueError: no\n";
  RunToTheEnd(vertex::APackageJob());
  EXPECT_EQ(Shown()["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(ErrorCode(), 3);
  EXPECT_THAT(Message(), StartsWith("The replica workerpool0-0 exited with a non-zero status of 1. "
                                    "Termination reason: Error. \nTraceback (most recent call "
                                    "last):\nValueError: no\n\nTo find out more about why your "
                                    "job exited please check the logs: "
                                    "https://console.cloud.google.com/logs/viewer?project="
                                    "123456789012&resource=ml_job%2Fjob_id%2F8501620632646057984"));
  EXPECT_THAT(Log("workerpool0-0"),
              IsSupersetOf({"Command '['python3', '-m', 'trainer.task', '--epochs', '2']' returned "
                            "non-zero exit status 1.",
                            "Task completed. Exit code (1). Exit reason (SUBPROCESS_EXCEPTION)"}));
  const std::vector<std::string> service = Log("service");
  ASSERT_GE(service.size(), 5u);
  EXPECT_THAT(std::vector<std::string>(service.end() - 5, service.end()),
              ElementsAre("The replica workerpool0-0 exited with a non-zero status of 1. "
                          "Termination reason: Error. ",
                          "Traceback (most recent call last):", "ValueError: no",
                          StartsWith("To find out more about why your job exited"), "Job failed."))
      << "the message line by line";
}

TEST_F(CustomRun, AFailedReplicaStartsOnceMoreBeforeTheJobFails) {
  world.options.rules.failing_restart = std::chrono::seconds(60);
  world.Boot();
  world.launcher.script = [](const ReplicaLaunch& launch) {
    if (launch.key.replica != kSecondWorker) return Script{.run_for = kForever};
    return launch.key.boot == 1 ? Script{.exit_code = 3} : Script{.run_for = kForever};
  };
  ASSERT_TRUE(Submit(vertex::WithPools(vertex::AContainerJob(), {2})).ok());
  ASSERT_TRUE(world.RunUntilState(kId, JobState::kRunning));
  const Instant started = world.clock.Now();
  world.RunUntilIdle();
  ASSERT_EQ(launches.size(), 4u);
  EXPECT_EQ(launches.back().key.replica, kSecondWorker);
  EXPECT_TRUE(launches.back().fresh_disk) << "a fresh container";
  EXPECT_EQ(launches.back().machine.host_name, LaunchOf(kSecondWorker).machine.host_name);
  EXPECT_EQ(Shown()["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(ErrorCode(), 3);
  EXPECT_THAT(Message(),
              StartsWith("The replica workerpool1-1 exited with a non-zero status of 3. "));
  EXPECT_GE(world.clock.Now() - started, std::chrono::seconds(60));
  EXPECT_THAT(Log("service"), Contains("The replica workerpool1-1 exited with a non-zero status of "
                                       "3. It starts once more before the job fails."));
}

TEST_F(CustomRun, ItsSecondEndFailsTheJobWhateverItIs) {
  world.options.rules.failing_restart = std::chrono::hours(1);
  world.Boot();
  for (const int second : {0, 1, 139}) {
    launches.clear();
    world.launcher.script = [second](const ReplicaLaunch& launch) {
      return Script{.exit_code = launch.key.boot == 1 ? 1 : second};
    };
    const std::string id = std::to_string(4711 + second);
    ASSERT_TRUE(world.Submit(vertex::AContainerJob(), {"us-central1", id}).ok());
    const Instant started = world.clock.Now();
    world.RunUntilIdle();
    EXPECT_EQ(launches.size(), 2u);
    EXPECT_EQ(world.StateOf(id), JobState::kFailed) << second;
    EXPECT_LT(world.clock.Now() - started, std::chrono::minutes(1)) << "it waits for nothing";
    EXPECT_THAT(world.engine->Get("p", id)->error_message, HasSubstr("non-zero status of 1."));
  }
}

TEST_F(CustomRun, AFailingJobFailsAfterTheEmulatorWasKilled) {
  world.options.rules.failing_restart = std::chrono::hours(1);
  world.Boot();
  world.launcher.script = [](const ReplicaLaunch& launch) {
    return launch.key.boot == 1 ? Script{.exit_code = 1} : Script{.run_for = kForever};
  };
  ASSERT_TRUE(Submit(vertex::AContainerJob()).ok());
  while (launches.size() < 2 && world.Step()) {
  }
  world.KillEmulator();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(launches.size(), 2u);
  EXPECT_EQ(Shown()["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(ErrorCode(), 3);
}

TEST_F(CustomRun, EachPoolRunsItsOwnProgram) {
  Json body = vertex::WithPools(vertex::AContainerJob(), {1});
  body["jobSpec"]["workerPoolSpecs"][1] = vertex::APackageJob()["jobSpec"]["workerPoolSpecs"][0];
  RunToTheEnd(body);
  EXPECT_THAT(LaunchOf(kChief).Argv(), ElementsAre("/bin/train", "--epochs=2"));
  EXPECT_THAT(LaunchOf({"workerpool1", 0}).Argv(), Contains("trainer.task"));
  EXPECT_THAT(Log("workerpool1-0"), Contains("Running module trainer.task."));
  EXPECT_EQ(LaunchOf({"workerpool1", 0}).log_reader, run::LogReader::kLauncher);
  EXPECT_THAT(Log("workerpool0-0"), IsEmpty());
}

TEST_F(CustomRun, WithoutMemoryItNamesThePool) {
  chief.out_of_memory = true;
  chief.signal = SIGKILL;
  RunToTheEnd(vertex::AContainerJob());
  EXPECT_EQ(ErrorCode(), 8);
  EXPECT_EQ(Message(),
            "Replicas low on memory: workerpool0. Specify a machine with larger memory and try "
            "again.");
}

TEST_F(CustomRun, ACommandThatCannotStartFailsTheJob) {
  chief.start_error = "No such file or directory";
  RunToTheEnd(vertex::AContainerJob());
  EXPECT_EQ(ErrorCode(), 3);
  EXPECT_THAT(Message(), HasSubstr("status of 128. Termination reason: StartError. \n Termination "
                                   "log message: No such file or directory"));
}

TEST_F(CustomRun, ASpotJobIsRestartedSixTimes) {
  Json body = vertex::WithPools(vertex::AContainerJob(), {1});
  body["jobSpec"]["scheduling"]["strategy"] = "SPOT";
  chief.run_for = std::chrono::hours(1);
  ASSERT_TRUE(Submit(body).ok());
  for (size_t attempt = 1; attempt <= 7; ++attempt) {
    while (launches.size() < 2 * attempt && world.Step()) {
    }
    ASSERT_EQ(launches.size(), 2 * attempt) << "all replicas start again";
    ASSERT_TRUE(world.RunUntilState(kId, JobState::kRunning));
    Lose({"workerpool1", 0});
  }
  world.RunUntilIdle();
  EXPECT_EQ(launches.size(), 14u);
  EXPECT_EQ(Shown()["state"], "JOB_STATE_FAILED");
  EXPECT_EQ(ErrorCode(), 8);
  EXPECT_THAT(Message(), StartsWith("Resources are insufficient in region: us-central1."));
}

TEST_F(CustomRun, WithoutRetriesATransientFaultFailsTheJob) {
  Json body = vertex::AContainerJob();
  body["jobSpec"]["scheduling"]["disableRetries"] = true;
  chief.exit_code = 139;
  RunToTheEnd(body);
  EXPECT_EQ(launches.size(), 1u);
  EXPECT_EQ(Shown()["state"], "JOB_STATE_FAILED");
}

TEST_F(CustomRun, ItIsCancelledByItsUserOrByItsTimeout) {
  Json body = vertex::AContainerJob();
  body["jobSpec"]["scheduling"]["timeout"] = "60s";
  chief.run_for = std::chrono::hours(1);
  RunToTheEnd(body);
  EXPECT_EQ(Shown()["state"], "JOB_STATE_CANCELLED");
  EXPECT_EQ(ErrorCode(), 4);
  EXPECT_EQ(Message(),
            "The job was cancelled because it ran longer than scheduling.timeout (60s).");
  const auto other = world.Submit(vertex::AContainerJob(), {"us-central1", "4711"});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(world.RunUntilState("4711", JobState::kRunning));
  world.engine->CancelLater("p", "4711", [](const Status&) {});
  world.RunUntilIdle();
  const auto shown = vertex::RenderCustomJob(*world.engine->Get("p", "4711"), {});
  EXPECT_EQ((*shown)["state"], "JOB_STATE_CANCELLED");
  EXPECT_EQ((*shown)["error"]["code"], 1);
}

TEST_F(CustomRun, ContinuesAfterTheEmulatorWasKilled) {
  ASSERT_TRUE(Submit(vertex::WithPools(vertex::APackageJob(), {1})).ok());
  ASSERT_TRUE(world.RunUntilState(kId, JobState::kRunning));
  const run::Environment before = LaunchOf(kChief).environment;
  world.KillEmulator();
  launches.clear();
  world.Boot();
  world.RunUntilIdle();
  EXPECT_EQ(Shown()["state"], "JOB_STATE_SUCCEEDED");
  EXPECT_EQ(LaunchOf(kChief).environment, before);
}

TEST_F(CustomRun, EverythingThatIsMissingIsReportedAtOnce) {
  Json body = vertex::WithPools(vertex::APackageJob(), {1});
  body["jobSpec"]["workerPoolSpecs"][1] = vertex::AContainerJob()["jobSpec"]["workerPoolSpecs"][0];
  body["jobSpec"]["workerPoolSpecs"][1]["containerSpec"]["imageUri"] = "gcr.io/p/unknown:1";
  body["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"] = "gs://other/out";
  storage.objects.clear();
  const auto refused = Submit(body);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(
      vertex::Told(refused.error().violations),
      ElementsAre(
          HasSubstr("job_spec.worker_pool_specs[0].python_package_spec.package_uris: The package "
                    "'gs://bkt/trainer-0.1.tar.gz' cannot be read by service account "
                    "default@demo.iam.gserviceaccount.com."),
          HasSubstr("job_spec.base_output_directory.output_uri_prefix: The bucket 'other' does "
                    "not exist."),
          HasSubstr("job_spec.worker_pool_specs[1].container_spec.image_uri: ")));
  storage.buckets.insert("other");
  storage.read_only.insert("other");
  EXPECT_THAT(Submit(body).error().message, HasSubstr("The path 'gs://other/out/' cannot be "
                                                      "written by service account"));
}

TEST_F(CustomRun, AJobThatBreaksARuleIsNotCreated) {
  Json body = vertex::AContainerJob();
  body.erase("displayName");
  EXPECT_EQ(Submit(body).error().message,
            "List of found errors:\t1.Field: display_name; Message: Required field is not set.\t");
  EXPECT_EQ(world.engine->Get("p", kId).error().message, "The CustomJob does not exist.");
}

}  // namespace
}  // namespace caip::engine
