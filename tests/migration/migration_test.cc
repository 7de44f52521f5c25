// The custom job that means the same as a training job, what is refused, and what is said to
// differ.
#include "migration/migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "migration/report.h"
#include "migration/tables.h"
#include "ml/catalog/catalog.h"
#include "ml/validate/validate.h"
#include "places.h"
#include "tests/ml/a_job.h"
#include "vertex/catalog/catalog.h"

namespace caip::migration {
namespace {

using ml::Job;
using ml::TrainingInput;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

MigratedJob Migrated(const Job& job, const MigrationOptions& options = {}) {
  Result<MigratedJob> made = Migrate(job, options);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? *made : MigratedJob{};
}

Json PoolsOf(const Job& job) { return Migrated(job).file["workerPoolSpecs"]; }

std::vector<std::string> Subjects(const MigratedJob& job) {
  std::vector<std::string> subjects;
  for (const Difference& difference : job.differences) subjects.push_back(difference.subject);
  return subjects;
}

std::vector<std::string> Refused(const Job& job, const MigrationOptions& options = {}) {
  const Result<MigratedJob> made = Migrate(job, options);
  return made.ok() ? std::vector<std::string>{} : ml::Told(made.error().violations);
}

void SetRole(TrainingInput& input, ml::Role role, int count) {
  input.Of(role).machine_type = "n1-standard-4";
  input.Of(role).count = count;
}

TEST(Migration, APackageRunsInThePrebuiltContainerOfItsRuntimeVersion) {
  Job job = ml::AJob();
  job.training_input->args = {"--epochs", "2"};
  job.training_input->job_dir = "gs://bkt/out";
  const MigratedJob made = Migrated(job);
  EXPECT_FALSE(made.is_tuning);
  EXPECT_EQ(made.region, "us-central1");
  EXPECT_EQ(made.display_name, "census_1");
  EXPECT_EQ(CompactJson(made.file),
            R"({"workerPoolSpecs":[{"machineSpec":{"machineType":"n1-standard-4"},)"
            R"("replicaCount":1,"pythonPackageSpec":{"executorImageUri":)"
            R"("us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-4:latest","packageUris":)"
            R"(["gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"],"pythonModule":"trainer.task","args":)"
            R"(["--epochs","2","--job-dir","gs://bkt/out"]}}],)"
            R"("baseOutputDirectory":{"outputUriPrefix":"gs://bkt/out/"}})");
  EXPECT_THAT(Subjects(made), IsSupersetOf({"TF_CONFIG", "CLUSTER_SPEC", "--job-dir", "scale tier",
                                            "runtime version"}));
  EXPECT_THAT(DifferencesText(made), HasSubstr("AIP_MODEL_DIR gs://bkt/out/model/"));
  EXPECT_THAT(DifferencesText(made), Not(HasSubstr("{")));
}

TEST(Migration, TheImageIsNearTheRegionAndForTheAccelerator) {
  Job job = ml::ACustomJob("n1-standard-8");
  job.training_input->region = "europe-west4";
  SetRole(*job.training_input, ml::Role::kWorker, 2);
  job.training_input->worker.config.emplace().accelerator_config = {2, "NVIDIA_TESLA_T4"};
  const Json pools = PoolsOf(job);
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[0]["pythonPackageSpec"]["executorImageUri"],
            "europe-docker.pkg.dev/vertex-ai/training/tf-cpu.2-4:latest");
  EXPECT_EQ(pools[1]["pythonPackageSpec"]["executorImageUri"],
            "europe-docker.pkg.dev/vertex-ai/training/tf-gpu.2-4:latest");
  EXPECT_EQ(pools[1]["replicaCount"], 2);
  EXPECT_EQ(CompactJson(pools[1]["machineSpec"]),
            R"({"machineType":"n1-standard-4","acceleratorType":"NVIDIA_TESLA_T4",)"
            R"("acceleratorCount":2})");
}

TEST(Migration, AnExecutorImageReplacesThatOfTheTable) {
  Job job = ml::AJob();
  job.training_input->runtime_version = "1.14";
  job.training_input->python_version = "3.5";
  EXPECT_THAT(Refused(job), ElementsAre(StartsWith("runtime_version: No pre-built container")));
  EXPECT_THAT(Refused(job, {.executor_image = "gcr.io/p/py35:v1"}), IsEmpty());
  job = ml::AJob();
  job.training_input->runtime_version = "1.15";
  job.training_input->python_version = "2.7";
  EXPECT_THAT(Refused(job), ElementsAre(HasSubstr("have Python 3.7, not 2.7")));
}

TEST(Migration, EachRoleIsAPoolAtItsPlace) {
  Job job = ml::AContainerJob();
  TrainingInput& input = *job.training_input;
  SetRole(input, ml::Role::kEvaluator, 1);
  SetRole(input, ml::Role::kParameterServer, 3);
  SetRole(input, ml::Role::kWorker, 2);
  input.worker.config.emplace().image_uri = "gcr.io/my-project/worker:v1";
  input.worker.config->container_command = {"run"};
  input.worker.config->container_args = {"--fast"};
  input.worker.config->disk_config = ml::DiskConfig{"pd-standard", 200};
  input.job_dir = "gs://bkt/out/";
  const MigratedJob made = Migrated(job);
  const Json& pools = made.file["workerPoolSpecs"];
  ASSERT_EQ(pools.size(), 4u);
  EXPECT_EQ(CompactJson(pools[1]["containerSpec"]),
            R"({"imageUri":"gcr.io/my-project/worker:v1","command":["run"],)"
            R"("args":["--fast","--job-dir","gs://bkt/out/"]})");
  EXPECT_EQ(CompactJson(pools[1]["diskSpec"]),
            R"({"bootDiskType":"pd-standard","bootDiskSizeGb":200})");
  EXPECT_EQ(CompactJson(pools[2]["containerSpec"]),
            R"({"imageUri":"gcr.io/my-project/trainer:v1","args":["--job-dir","gs://bkt/out/"]})");
  EXPECT_EQ(pools[2]["replicaCount"], 3);
  EXPECT_FALSE(made.skips_pools);
  EXPECT_THAT(Subjects(made), IsSupersetOf({"master", "worker", "ps", "evaluator",
                                            "evaluator in TF_CONFIG", "log of a container"}));
}

TEST(Migration, ARoleWithoutReplicasIsASkippedPool) {
  Job job = ml::AContainerJob();
  SetRole(*job.training_input, ml::Role::kEvaluator, 1);
  const MigratedJob made = Migrated(job);
  const Json& pools = made.file["workerPoolSpecs"];
  ASSERT_EQ(pools.size(), 4u);
  EXPECT_TRUE(pools[1].empty());
  EXPECT_TRUE(pools[2].empty());
  EXPECT_TRUE(made.skips_pools);
  EXPECT_THAT(Subjects(made), IsSupersetOf({"workerPoolSpecs[1]", "workerPoolSpecs[2]"}));
}

TEST(Migration, TheMasterIsChiefOnlyNow) {
  Job job = ml::AContainerJob();
  SetRole(*job.training_input, ml::Role::kWorker, 1);
  EXPECT_THAT(Subjects(Migrated(job)), Contains("master in TF_CONFIG"));
  job.training_input->use_chief_in_tf_config = true;
  EXPECT_THAT(Subjects(Migrated(job)), Not(Contains("master in TF_CONFIG")));
}

TEST(Migration, EveryTierAndLegacyMachineHasMachinesOfVertex) {
  for (const ml::ScaleTier& tier : ml::DefaultCatalog().tiers()) {
    if (tier.IsCustom() || tier.name == "BASIC_TPU") continue;
    Job job = ml::AJob();
    job.training_input->scale_tier = tier.name;
    const Json pools = PoolsOf(job);
    EXPECT_EQ(pools.size(), tier.Of(ml::Role::kWorker) ? 3u : 1u) << tier.name;
  }
  for (const ml::MachineType& machine : ml::DefaultCatalog().machines()) {
    if (machine.tier_only || machine.category == ml::MachineCategory::kTpu) continue;
    const Json pools = PoolsOf(ml::ACustomJob(machine.name));
    ASSERT_EQ(pools.size(), 1u) << machine.name;
    const std::string type = pools[0]["machineSpec"]["machineType"];
    const vertex::MachineType* found = vertex::DefaultCatalog().FindMachine(type);
    ASSERT_NE(found, nullptr) << machine.name << " became " << type;
    EXPECT_GE(found->vcpus, machine.vcpus) << machine.name;
    EXPECT_GE(found->memory_gb, machine.memory_gb) << machine.name;
  }
}

TEST(Migration, SchedulingIsKeptAsFarAsItHasCounterparts) {
  Job job = ml::AContainerJob();
  ml::Scheduling& scheduling = job.training_input->scheduling.emplace();
  scheduling.max_running_time = std::chrono::hours(2);
  scheduling.max_wait_time = std::chrono::hours(1);
  scheduling.priority = 3;
  scheduling.resilient_to_worker_restart = true;
  scheduling.strategy = "LOW_COST";
  const MigratedJob made = Migrated(job);
  EXPECT_EQ(CompactJson(made.file["scheduling"]),
            R"({"timeout":"7200s","restartJobOnWorkerRestart":true,"strategy":"SPOT"})");
  EXPECT_THAT(Subjects(made), IsSupersetOf({"maxWaitTime", "priority", "LOW_COST"}));
}

TEST(Migration, TheRestOfTheJobKeepsItsMeaning) {
  Job job = ml::AContainerJob();
  TrainingInput& input = *job.training_input;
  input.service_account = "me@p.iam.gserviceaccount.com";
  input.network = "projects/123/global/networks/mine";
  input.enable_web_access = true;
  input.has_encryption_config = true;
  input.kms_key_name = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k";
  job.labels = {{"team", "vision"}};
  const MigratedJob made = Migrated(job);
  EXPECT_EQ(made.file["serviceAccount"], input.service_account);
  EXPECT_EQ(made.file["network"], input.network);
  EXPECT_EQ(made.file["enableWebAccess"], true);
  EXPECT_EQ(CreateLine(made, "gcloud", "spec.yaml"),
            "gcloud ai custom-jobs create --region us-central1 --display-name census_1 "
            "--labels team=vision --kms-key " +
                input.kms_key_name + " --config spec.yaml");
}

TEST(Migration, APrebuiltContainerOfPyTorchHasItsSuccessor) {
  Job job = ml::ACustomJob();
  TrainingInput& input = *job.training_input;
  input.runtime_version.clear();
  input.python_version.clear();
  input.master.config.emplace().image_uri = "gcr.io/cloud-ml-public/training/pytorch-gpu.1-7";
  const MigratedJob made = Migrated(job);
  EXPECT_EQ(made.file["workerPoolSpecs"][0]["pythonPackageSpec"]["executorImageUri"],
            "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-7");
  EXPECT_THAT(Subjects(made), Contains("MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE"));
}

TEST(Migration, ATuningJobHasItsStudy) {
  Job job = ml::ATuningJob();
  ml::HyperparameterSpec& spec = *job.training_input->hyperparameters;
  job.training_input->job_dir = "gs://bkt/out";
  job.training_input->args = {"--epochs=1"};
  spec.algorithm = "RANDOM_SEARCH";
  spec.enable_trial_early_stopping = true;
  spec.max_failed_trials = 4;
  const MigratedJob made = Migrated(job);
  EXPECT_TRUE(made.is_tuning);
  EXPECT_EQ(CompactJson(made.file["studySpec"]),
            R"({"metrics":[{"metricId":"metric1","goal":"MAXIMIZE"}],"parameters":[{"parameterId":)"
            R"("hidden1","integerValueSpec":{"minValue":40,"maxValue":400},"scaleType":)"
            R"("UNIT_LINEAR_SCALE"},{"parameterId":"numRnnCells","discreteValueSpec":{"values":)"
            R"([1.0,2.0,3.0,4.0]}},{"parameterId":"rnnCellType","categoricalValueSpec":{"values":)"
            R"(["GRUCell","LSTMCell"]}},{"parameterId":"learning_rate","doubleValueSpec":)"
            R"({"minValue":0.001,"maxValue":0.1},"scaleType":"UNIT_LOG_SCALE"}],"algorithm":)"
            R"("RANDOM_SEARCH","medianAutomatedStoppingSpec":{}})");
  EXPECT_EQ(made.file["maxTrialCount"], 30);
  EXPECT_EQ(made.file["parallelTrialCount"], 2);
  EXPECT_EQ(made.file["maxFailedTrialCount"], 4);
  EXPECT_EQ(made.file["displayName"], "census_1");
  const Json& trial = made.file["trialJobSpec"];
  EXPECT_EQ(trial["workerPoolSpecs"][0]["pythonPackageSpec"]["args"], Json::array({"--epochs=1"}))
      << "no --job-dir, which would be the same for all trials";
  EXPECT_EQ(trial["baseOutputDirectory"]["outputUriPrefix"], "gs://bkt/out/");
  EXPECT_THAT(CreateLine(made, "caip", "f"), StartsWith("caip ai hp-tuning-jobs create "));
}

TEST(Migration, AStudyWithoutGoalAndTagSaysWhatTheyWere) {
  Job job = ml::ATuningJob();
  job.training_input->hyperparameters->goal.clear();
  job.training_input->hyperparameters->hyperparameter_metric_tag.clear();
  const MigratedJob made = Migrated(job);
  EXPECT_EQ(CompactJson(made.file["studySpec"]["metrics"]),
            R"([{"metricId":"training/hptuning/metric","goal":"MAXIMIZE"}])");
  EXPECT_THAT(Subjects(made), IsSupersetOf({"goal", "metric tag", "maxFailedTrials"}));
}

TEST(Migration, EveryReasonAgainstAJobIsListed) {
  Job job = ml::ATuningJob();
  TrainingInput& input = *job.training_input;
  input.scale_tier = "BASIC_TPU";
  input.runtime_version = "1.14";
  input.python_version = "3.5";
  input.hyperparameters->resume_previous_job_id = "earlier";
  job.labels = {{"Team", "x"}};
  EXPECT_THAT(Refused(job), IsSupersetOf({StartsWith("job.labels: "), StartsWith("scale_tier: "),
                                          StartsWith("hyperparameters.resume_previous_job_id: "),
                                          StartsWith("runtime_version: ")}));
  const Result<MigratedJob> made = Migrate(job);
  ASSERT_FALSE(made.ok());
  for (const FieldViolation& violation : made.error().violations) {
    EXPECT_THAT(made.error().message, HasSubstr(violation.field + ": " + violation.description));
  }
}

TEST(Migration, ATpuWorkerAndABuiltInAlgorithmHaveNoCounterpart) {
  EXPECT_THAT(Refused(ml::ATpuJob()), ElementsAre(StartsWith("worker_type: The job drives a TPU")));
  Job job = ml::AContainerJob();
  job.training_input->job_dir = "gs://bkt/out";
  job.training_input->master.config->image_uri = "gcr.io/cloud-ml-algos/boosted_trees:latest";
  EXPECT_THAT(Refused(job), ElementsAre(HasSubstr("is a built-in algorithm")));
}

TEST(Migration, ARuleOfVertexThatNoTableForeseesIsARefusal) {
  Job job = ml::ATuningJob();
  job.training_input->hyperparameters->max_failed_trials = 31;
  EXPECT_THAT(
      Refused(job),
      ElementsAre(AllOf(StartsWith("max_failed_trial_count: Vertex AI rejects"), HasSubstr("30"))));
}

TEST(Migration, AJobWithoutInputIsRefused) { EXPECT_THAT(Refused(Job{}), Not(IsEmpty())); }

// The emulator's catalogs and the tables name the same things.
TEST(MigrationTables, NameImagesThatVertexCallsPrebuilt) {
  for (const RuntimeImages& images : DefaultTables().runtimes()) {
    ASSERT_NE(ml::DefaultCatalog().FindRuntime(images.runtime), nullptr) << images.runtime;
    for (const bool has_gpu : {false, true}) {
      for (const char* region :
           {"us-east1", "europe-west1", "asia-east1", "australia-southeast1"}) {
        const std::string image = *DefaultTables().ImageOfRuntime(images.runtime, has_gpu, region);
        EXPECT_TRUE(vertex::IsPrebuiltImage(image)) << image;
        EXPECT_EQ(vertex::DescribePrebuiltImage(image).python, DefaultTables().python()) << image;
      }
    }
  }
}

TEST(MigrationTables, AreReadWithTheFirstMistake) {
  const auto broken = [](const std::string& from, const std::string& to) {
    const std::string text = ReplaceAll(std::string(TablesText()), from, to);
    EXPECT_NE(text, TablesText()) << from;
    const Result<Tables> tables = Tables::Parse(text);
    return tables.ok() ? "" : tables.error().message;
  };
  EXPECT_THAT(broken("\"differences\"", "\"other\""), HasSubstr("'differences'"));
  EXPECT_THAT(broken("\"vertex\": \"It is the number of the job.\"", "\"vertex\": 1"),
              HasSubstr("it has no text 'vertex'"));
  EXPECT_THAT(broken("{\"regions\": \"\"", "{\"regions\": \"us-\""), HasSubstr("last one"));
}

// Placeholders are upper-case words there.
std::string Documented(std::string text) {
  for (const char* name :
       {"job", "job_dir", "base", "role", "count", "machine", "index", "tier", "from", "to",
        "runtime", "image", "software", "uri", "file", "value", "metric"}) {
    text = ReplaceAll(text, "{" + std::string(name) + "}", UpperCase(name));
  }
  return text;
}

TEST(MigrationTables, AreThoseOfTheDocument) {
  std::ifstream file(std::string(CAIP_SOURCE_DIR) + "/docs/migrating.md");
  std::stringstream document;
  document << file.rdbuf();
  for (const DifferenceRow& row : DefaultTables().differences()) {
    EXPECT_THAT(document.str(),
                HasSubstr("| " + Documented(row.subject) + " | " + Documented(row.ai_platform) +
                          " | " + Documented(row.vertex) + " |\n"));
  }
}

std::string CommandOf(const Job& job) {
  const Result<std::string> text =
      CreateCommand(Migrated(job), "caip", [](const Json& value) { return CompactJson(value); });
  return text.ok() ? *text : "refused: " + text.error().message;
}

TEST(MigrationCommand, HasTheFileAsItsInput) {
  EXPECT_THAT(CommandOf(ml::AJob()),
              StartsWith("caip ai custom-jobs create --region us-central1 --display-name census_1 "
                         "--config /dev/stdin <<'END_OF_JOB'\n{\"workerPoolSpecs\""));
}

TEST(MigrationCommand, SaysSkippedPoolsByFlags) {
  Job job = ml::AContainerJob();
  SetRole(*job.training_input, ml::Role::kParameterServer, 2);
  job.training_input->args = {"--a=1,2", "b"};
  EXPECT_EQ(CommandOf(job),
            "caip ai custom-jobs create --region us-central1 --display-name census_1 \\\n"
            "    --worker-pool-spec=machine-type=n1-standard-8,replica-count=1,"
            "container-image-uri=gcr.io/my-project/trainer:v1 \\\n"
            "    --worker-pool-spec= \\\n"
            "    --worker-pool-spec=machine-type=n1-standard-4,replica-count=2,"
            "container-image-uri=gcr.io/my-project/trainer:v1 \\\n"
            "    '--args=^;^--a=1,2;b'\n");
  job.training_input->enable_web_access = true;
  EXPECT_THAT(CommandOf(job), HasSubstr("<<'END_OF_JOB'\n{\"enableWebAccess\":true}"));
}

TEST(MigrationCommand, IsRefusedWithEverythingThatHasNoFlag) {
  Job job = ml::AContainerJob();
  TrainingInput& input = *job.training_input;
  SetRole(input, ml::Role::kParameterServer, 2);
  input.master.config->container_args = {"a", "a"};
  input.master.config->disk_config = ml::DiskConfig{"pd-ssd", 200};
  EXPECT_THAT(CommandOf(job),
              AllOf(StartsWith("refused: "), HasSubstr("workerPoolSpecs[0].diskSpec"),
                    HasSubstr("the pools differ"), HasSubstr("the word 'a' twice")));
}

}  // namespace
}  // namespace caip::migration
