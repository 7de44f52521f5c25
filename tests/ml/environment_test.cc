#include "ml/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/json.h"
#include "ml/command_line.h"
#include "tests/support/golden.h"

namespace caip::ml {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr char kHostId[] = "e118e0f997";

// Addresses as the service's own: the host's name and port 2222.
ClusterPlan PlanOf(const TrainingInput& input) {
  ClusterPlan plan = PlanCluster(input);
  for (ReplicaPlan& replica : plan.replicas) {
    replica.address = HostName(replica.id, kHostId) + ":2222";
  }
  return plan;
}

// One replica of one job, with everything that stays the same in these tests.
struct Scene {
  TrainingInput input;
  ReplicaId replica;
  std::string trial = {};
  tuning::ValueTexts values = {};
  ClusterPlan plan = PlanOf(input);

  EnvironmentFacts Facts() const {
    return {.input = input,
            .plan = plan,
            .replica = replica,
            .job_id = "census_1",
            .project_id = "demo-project",
            .trial = trial,
            .arguments = FinalArguments(input, trial, values),
            .cloud_id = "w93a1503672d4dd09-ml",
            .host_id = kHostId,
            .boot_disk = "/disk",
            .path = "/usr/local/bin:/usr/bin:/bin",
            .cpus = 4,
            .endpoint = "http://127.0.0.1:8080"};
  }
};

TrainingInput Python(std::string tier, std::string runtime) {
  TrainingInput input;
  input.scale_tier = std::move(tier);
  input.package_uris = {"gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"};
  input.python_module = "trainer.task";
  input.args = {"--epochs", "2"};
  input.region = "us-central1";
  input.runtime_version = std::move(runtime);
  input.python_version = "3.7";
  input.job_dir = "gs://bkt/out";
  return input;
}

TrainingInput Custom(TrainingInput input, int64_t workers, int64_t ps, int64_t evaluators) {
  input.scale_tier = "CUSTOM";
  input.master.machine_type = "n1-standard-8";
  if (workers) input.worker = {"n1-standard-8", std::nullopt, workers};
  if (ps) input.parameter_server = {"n1-standard-4", std::nullopt, ps};
  if (evaluators) input.evaluator = {"n1-standard-4", std::nullopt, evaluators};
  return input;
}

TrainingInput Container(int64_t workers, int64_t evaluators) {
  TrainingInput input;
  input.args = {"--epochs", "2"};
  input.region = "us-central1";
  input = Custom(std::move(input), workers, 0, evaluators);
  input.master.config = ReplicaConfig{};
  input.master.config->image_uri = "gcr.io/p/trainer:1";
  return input;
}

TrainingInput Tuning(TrainingInput input) {
  HyperparameterSpec& spec = input.hyperparameters.emplace();
  spec.goal = "MAXIMIZE";
  spec.max_trials = 4;
  spec.hyperparameter_metric_tag = "accuracy";
  ParameterSpec& rate = spec.params.emplace_back();
  rate.parameter_name = "rate";
  rate.type = "DOUBLE";
  rate.min_value = 0.0001;
  rate.max_value = 1;
  rate.scale_type = "UNIT_LOG_SCALE";
  return input;
}

TEST(TfConfig, IsExampleAOfThePageToTheByte) {
  EXPECT_EQ(RenderTfConfig(Scene{Python("BASIC", "2.4"), {}}.Facts()),
            R"({"cluster": {"chief": ["cmle-training-master-e118e0f997-0:2222"]}, )"
            R"("task": {"type": "chief", "index": 0, "cloud": "w93a1503672d4dd09-ml"}, )"
            R"("job": {"scale_tier": "BASIC", )"
            R"("package_uris": ["gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"], )"
            R"("python_module": "trainer.task", )"
            R"("args": ["--epochs", "2", "--job-dir", "gs://bkt/out"], "region": "us-central1", )"
            R"("runtime_version": "2.4", "python_version": "3.7", "job_dir": "gs://bkt/out"}, )"
            R"("environment": "cloud"})");
}

// Examples B and D of docs/service/replica-environment.md, section 2, leave out the job.
Json WithoutJob(const std::string& tf_config) {
  Json config = *ParseJson(tf_config);
  config.erase("job");
  return config;
}

Json ParsedExample(std::string_view text) { return *ParseJson(text); }

// Compares without the order of members: the published dumps were formatted again.
void ExpectSame(const Json& got, const Json& wanted) {
  EXPECT_EQ(nlohmann::json(got), nlohmann::json(wanted));
}

TEST(TfConfig, IsExampleBForAWorkerOfATrial) {
  const Scene scene = {Tuning(Custom(Python("", "2.4"), 2, 1, 0)), {Role::kWorker, 0}, "1"};
  ExpectSame(WithoutJob(RenderTfConfig(scene.Facts())), ParsedExample(R"(
      {"cluster": {"chief": ["cmle-training-master-e118e0f997-0:2222"],
                   "ps": ["cmle-training-ps-e118e0f997-0:2222"],
                   "worker": ["cmle-training-worker-e118e0f997-0:2222",
                              "cmle-training-worker-e118e0f997-1:2222"]},
       "environment": "cloud",
       "task": {"cloud": "w93a1503672d4dd09-ml", "index": 0, "trial": "1", "type": "worker"}})"));
}

TEST(TfConfig, IsExampleCForAParameterServerOfStandard1) {
  const Scene scene = {Python("STANDARD_1", "1.14"), {Role::kParameterServer, 2}};
  const Json config = *ParseJson(RenderTfConfig(scene.Facts()));
  EXPECT_EQ(config["cluster"].size(), 3u);
  EXPECT_EQ(config["cluster"]["master"].size(), 1u);
  EXPECT_EQ(config["cluster"]["ps"].size(), 3u);
  EXPECT_EQ(config["cluster"]["worker"].size(), 4u);
  EXPECT_EQ(PythonJson(config["task"]),
            R"({"type": "ps", "index": 2, "cloud": "w93a1503672d4dd09-ml"})");
}

TEST(TfConfig, IsExampleDForAnEvaluatorWhichStandsOutsideTheCluster) {
  const Scene scene = {Custom(Python("", "2.4"), 1, 0, 1), {Role::kEvaluator, 0}};
  EXPECT_EQ(PythonJson(WithoutJob(RenderTfConfig(scene.Facts()))),
            R"({"cluster": {"chief": ["cmle-training-master-e118e0f997-0:2222"], )"
            R"("worker": ["cmle-training-worker-e118e0f997-0:2222"]}, )"
            R"("task": {"type": "evaluator", "index": 0, "cloud": "w93a1503672d4dd09-ml"}, )"
            R"("environment": "cloud"})");
}

TEST(TfConfig, IsExampleEForAWorker) {
  const Scene scene = {Custom(Python("", "2.1"), 4, 0, 0), {Role::kWorker, 3}};
  const Json config = *ParseJson(RenderTfConfig(scene.Facts()));
  EXPECT_EQ(PythonJson(config["task"]),
            R"({"type": "worker", "index": 3, "cloud": "w93a1503672d4dd09-ml"})");
  EXPECT_EQ(PythonJson(config["cluster"]["chief"]),
            R"(["cmle-training-master-e118e0f997-0:2222"])");
}

TEST(TfConfig, ShowsNoArgsWhereTheJobHasNone) {
  TrainingInput input = Python("BASIC", "2.4");
  input.args.clear();
  const Json config = *ParseJson(RenderTfConfig(Scene{input, {}}.Facts()));
  EXPECT_FALSE(config["job"].contains("args"));
}

TEST(TfConfig, ShowsTheTuningSpecInSnakeCase) {
  const Scene scene = {Tuning(Python("BASIC", "2.4")), {}, "2", {{"rate", "0.05"}}};
  const Json job = (*ParseJson(RenderTfConfig(scene.Facts())))["job"];
  const Json& parameter = job["hyperparameters"]["params"][0];
  EXPECT_EQ(parameter["parameter_name"], "rate");
  EXPECT_EQ(parameter["type"], "DOUBLE");
  EXPECT_EQ(parameter["min_value"], 0.0001);
  EXPECT_EQ(PythonJson(job["args"]),
            R"(["--epochs", "2", "--rate", "0.05", "--job-dir", "gs://bkt/out/2"])");
}

// docs/service/replica-environment.md, section 3
TEST(Environment, NodesOfAPrebuiltPyTorchContainerFindTheirCluster) {
  TrainingInput input;
  input.scale_tier = "CUSTOM";
  input.master.machine_type = input.worker.machine_type = "n1-standard-4";
  input.worker.count = 2;
  input.master.config.emplace().image_uri = "gcr.io/cloud-ml-public/training/pytorch-gpu.1-7";
  input.package_uris = {"gs://bkt/trainer.tar.gz"};
  input.python_module = "trainer.task";
  const auto worker = RenderEnvironment(Scene{input, {Role::kWorker, 1}}.Facts());
  EXPECT_THAT(worker, Contains(Pair("MASTER_ADDR", "cmle-training-master-e118e0f997-0")));
  EXPECT_THAT(worker, Contains(Pair("MASTER_PORT", "2222")));
  EXPECT_THAT(worker, Contains(Pair("WORLD_SIZE", "3")));
  EXPECT_THAT(worker, Contains(Pair("RANK", "2")));
  EXPECT_THAT(worker, Contains(Key(std::string("CLUSTER_SPEC"))));
  EXPECT_THAT(worker, Contains(Key("LOG_FILE_TO_WRITE")));  // the launcher runs the module
  EXPECT_THAT(RenderEnvironment(Scene{input, {Role::kMaster, 0}}.Facts()),
              Contains(Pair("RANK", "0")));
  input.master.config->image_uri = "gcr.io/p/own:v1";
  EXPECT_THAT(RenderEnvironment(Scene{input, {Role::kWorker, 1}}.Facts()),
              Not(Contains(Key("RANK"))));
}

TEST(TfConfig, KeepsTheArgsOfContainersAsTheyWereSubmitted) {
  TrainingInput input = Container(0, 0);
  input.job_dir = "gs://bkt/out";
  const Json config = *ParseJson(RenderTfConfig(Scene{input, {}}.Facts()));
  EXPECT_EQ(PythonJson(config["job"]["args"]), R"(["--epochs", "2"])");
}

TEST(ClusterSpec, IsTheExampleOfThePageToTheByte) {
  Scene scene = {Container(2, 0), {Role::kWorker, 1}};
  for (ReplicaPlan& replica : scene.plan.replicas) {
    replica.address = HostName(replica.id, "4c1d6d97d0") + ":2222";
  }
  EXPECT_EQ(RenderClusterSpec(scene.Facts()),
            R"({"cluster": {"master": ["cmle-training-master-4c1d6d97d0-0:2222"], )"
            R"("worker": ["cmle-training-worker-4c1d6d97d0-0:2222", )"
            R"("cmle-training-worker-4c1d6d97d0-1:2222"]}, "environment": "cloud", )"
            R"("task": {"type": "worker", "index": 1}, )"
            R"("job": "{\"python_module\":\"\",\"package_uris\":[],)"
            R"(\"job_args\":[\"--epochs\",\"2\"]}"})");
}

TEST(ClusterSpec, NeverSaysChiefAndListsEvaluators) {
  const Scene scene = {Container(0, 1), {}, "3"};
  EXPECT_EQ(PythonJson(WithoutJob(RenderClusterSpec(scene.Facts()))),
            R"({"cluster": {"master": ["cmle-training-master-e118e0f997-0:2222"], )"
            R"("evaluator": ["cmle-training-evaluator-e118e0f997-0:2222"]}, )"
            R"("environment": "cloud", "task": {"type": "master", "index": 0, "trial": "3"}})");
  EXPECT_TRUE(ParseJson(RenderTfConfig(scene.Facts()))->at("cluster").contains("chief"));
}

TEST(TpuConfig, NamesNodeProjectAndZone) {
  EXPECT_EQ(RenderTpuConfig(Scene{Python("BASIC_TPU", "2.1"), {}}.Facts()),
            R"({"project": "w93a1503672d4dd09-ml", "zone": "us-central1-b", )"
            R"("tpu_node_name": "cmle-training-e118e0f997-tpu"})");
}

TEST(RunningTaskText, ShowsTheLaunchersArgumentsBeforeItAddsItsOwn) {
  EXPECT_EQ(RunningTaskText(Scene{Python("BASIC", "2.4"), {}}.Facts()),
            R"(Running task with arguments: )"
            R"(--cluster={"chief": ["cmle-training-master-e118e0f997-0:2222"]} )"
            R"(--task={"type": "chief", "index": 0, "cloud": "w93a1503672d4dd09-ml"} )"
            R"(--job={"scale_tier": "BASIC", )"
            R"("package_uris": ["gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"], )"
            R"("python_module": "trainer.task", "args": ["--epochs", "2"], )"
            R"("region": "us-central1", "runtime_version": "2.4", "python_version": "3.7", )"
            R"("job_dir": "gs://bkt/out"})");
}

TEST(Environment, IsTheSameBytesForTheSameFacts) {
  const Scene scene = {Tuning(Custom(Python("", "2.4"), 2, 1, 1)), {Role::kWorker, 1}, "2"};
  EXPECT_EQ(RenderEnvironment(scene.Facts()), RenderEnvironment(scene.Facts()));
}

TEST(Environment, HasEachNameOnce) {
  for (const TrainingInput& input :
       {Tuning(Python("BASIC_TPU", "2.1")), Tuning(Container(1, 1)), Python("BASIC", "1.15")}) {
    std::set<std::string> names;
    for (const auto& [name, value] : RenderEnvironment(Scene{input, {}, "1"}.Facts())) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

TEST(Environment, LeavesTheVariablesOfTheSystemToAnImage) {
  const Scene scene{Container(0, 0), {Role::kMaster, 0}};
  EnvironmentFacts facts = scene.Facts();
  facts.has_own_image = true;
  const auto variables = RenderEnvironment(facts);
  // The user of an image may have another home than /root, where gcloud has its configuration.
  for (const std::string name :
       {"PATH", "HOME", "USER", "LANG", "TMPDIR", "PYTHONUNBUFFERED", "CLOUDSDK_CONFIG"}) {
    EXPECT_THAT(variables, Not(Contains(Key(name))));
  }
  EXPECT_THAT(variables, Contains(Key(std::string("HOSTNAME"))));
  EXPECT_THAT(variables, Contains(Key(std::string("CLUSTER_SPEC"))));
}

TEST(Environment, HasTrialVariablesOnlyInTrials) {
  const auto outside = RenderEnvironment(Scene{Python("BASIC", "2.4"), {}}.Facts());
  EXPECT_THAT(outside, Not(Contains(Key(std::string("CLOUD_ML_TRIAL_ID")))));
  EXPECT_THAT(outside, Not(Contains(Key(std::string("CLOUD_ML_HP_METRIC_TAG")))));
  EXPECT_THAT(outside, Not(Contains(Key(std::string("CLOUD_ML_HP_METRIC_FILE")))));
}

TEST(Environment, NamesTheServicesMetricWhereTheJobNamesNone) {
  TrainingInput input = Tuning(Python("BASIC", "2.4"));
  input.hyperparameters->hyperparameter_metric_tag.clear();
  EXPECT_THAT(RenderEnvironment(Scene{input, {}, "1"}.Facts()),
              Contains(Pair("CLOUD_ML_HP_METRIC_TAG", "training/hptuning/metric")));
}

TEST(Environment, LeadsNobodyToAnEmulatorThatIsNotThere) {
  const Scene scene = {Python("BASIC", "2.4"), {}};
  EnvironmentFacts facts = scene.Facts();
  facts.endpoint.clear();
  const auto variables = RenderEnvironment(facts);
  EXPECT_THAT(variables, Not(Contains(Key(std::string("STORAGE_EMULATOR_HOST")))));
  EXPECT_THAT(variables, Not(Contains(Key(std::string("CLOUDSDK_API_ENDPOINT_OVERRIDES_ML")))));
  EXPECT_THAT(variables, Contains(Key(std::string("TF_CONFIG"))));
}

TEST(Environment, IsTheSameWithJobTextsMadeBefore) {
  for (const TrainingInput& input : {Python("BASIC", "2.4"), Container(2, 1)}) {
    const Scene scene = {input, {}};
    EnvironmentFacts facts = scene.Facts();
    const auto variables = RenderEnvironment(facts);
    const std::string first_words = RunningTaskText(facts);
    const JobTexts texts = RenderJobTexts(facts.input, facts.plan, facts.arguments);
    facts.job_texts = &texts;
    EXPECT_EQ(RenderEnvironment(facts), variables);
    EXPECT_EQ(RunningTaskText(facts), first_words);
  }
}

TEST(Environment, NeverNamesCredentials) {
  for (const auto& [name, value] : RenderEnvironment(Scene{Container(0, 0), {}}.Facts())) {
    EXPECT_NE(name, "GOOGLE_APPLICATION_CREDENTIALS");
  }
}

TEST(BootDiskDirectories, HoldEveryFileThatAVariableNames) {
  const std::vector<std::string> directories = BootDiskDirectories();
  const Scene scene = {Tuning(Python("BASIC", "2.4")), {}, "1"};
  int files = 0;
  for (const auto& [name, value] : RenderEnvironment(scene.Facts())) {
    const bool is_file = name.ends_with("FILE") || name.ends_with("LOG") ||
                         name.ends_with("SENTINEL") || name.ends_with("_TO_WRITE") ||
                         name.ends_with("FILE_PATH");
    if (!is_file) continue;
    ++files;
    const std::string parent = std::filesystem::path(value).parent_path();
    EXPECT_THAT(directories, Contains(parent.substr(std::string("/disk/").size()))) << name;
  }
  EXPECT_EQ(files, 5);
}

struct GoldenCase {
  const char* name;
  Scene scene;
};

std::vector<GoldenCase> GoldenCases() {
  TrainingInput mixed = Container(1, 1);
  mixed.worker.config = ReplicaConfig{};
  mixed.worker.config->image_uri = "gcr.io/p/worker:2";
  mixed.worker.config->container_command = {"/run"};
  mixed.args.clear();
  TrainingInput chief = Container(1, 0);
  chief.use_chief_in_tf_config = true;
  TrainingInput tpu_container = Container(1, 0);
  tpu_container.worker.machine_type = "cloud_tpu";
  tpu_container.worker.config = ReplicaConfig{};
  tpu_container.worker.config->accelerator_config = AcceleratorConfig{8, "TPU_V3"};
  tpu_container.worker.config->tpu_tf_version = "1.15";
  const TrainingInput custom = Custom(Python("", "2.4"), 2, 1, 1);
  const TrainingInput old_custom = Custom(Python("", "1.15"), 1, 1, 1);
  TrainingInput tuned_container = Tuning(Container(1, 0));
  tuned_container.job_dir = "gs://bkt/out";
  const tuning::ValueTexts values = {{"rate", "0.072136064767837529"}};
  return {
      {"basic_runtime_2_4_master", {Python("BASIC", "2.4"), {}}},
      {"basic_runtime_1_15_master", {Python("BASIC", "1.15"), {}}},
      {"standard_1_runtime_1_14_ps_2", {Python("STANDARD_1", "1.14"), {Role::kParameterServer, 2}}},
      {"premium_1_runtime_2_11_worker_18", {Python("PREMIUM_1", "2.11"), {Role::kWorker, 18}}},
      {"basic_gpu_runtime_2_1_master", {Python("BASIC_GPU", "2.1"), {}}},
      {"basic_tpu_runtime_2_1_master", {Python("BASIC_TPU", "2.1"), {}}},
      {"custom_runtime_2_4_master", {custom, {}}},
      {"custom_runtime_2_4_worker_1", {custom, {Role::kWorker, 1}}},
      {"custom_runtime_2_4_ps_0", {custom, {Role::kParameterServer, 0}}},
      {"custom_runtime_2_4_evaluator_0", {custom, {Role::kEvaluator, 0}}},
      {"custom_runtime_1_15_evaluator_0", {old_custom, {Role::kEvaluator, 0}}},
      {"tuning_runtime_2_4_master_trial_1", {Tuning(Python("BASIC", "2.4")), {}, "1", values}},
      {"tuning_runtime_2_4_worker_0_trial_3", {Tuning(custom), {Role::kWorker, 0}, "3", values}},
      {"container_master", {Container(0, 0), {}}},
      {"container_worker_1", {Container(2, 0), {Role::kWorker, 1}}},
      {"container_with_evaluator_master", {mixed, {}}},
      {"container_with_evaluator_evaluator_0", {mixed, {Role::kEvaluator, 0}}},
      {"container_use_chief_worker_0", {chief, {Role::kWorker, 0}}},
      {"container_tpu_master", {tpu_container, {}}},
      {"container_tuning_master_trial_2", {tuned_container, {}, "2", values}},
  };
}

TEST(Environment, IsThatOfTheGoldenFiles) {
  for (const GoldenCase& c : GoldenCases()) {
    SCOPED_TRACE(c.name);
    std::string text;
    for (const auto& [name, value] : RenderEnvironment(c.scene.Facts())) {
      text += name + "=" + value + "\n";
    }
    caip::testing::ExpectGolden("environment/" + std::string(c.name) + ".env", text);
  }
}

}  // namespace
}  // namespace caip::ml
