// docs/service/vertex.md, section 6: what a replica sees, byte for byte.

#include "vertex/environment.h"

#include <set>

#include "tests/support/golden.h"
#include "tests/vertex/a_custom_job.h"
#include "vertex/cluster.h"
#include "vertex/to_run_spec.h"

namespace caip::vertex {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr char kHostId[] = "4c1d6d97d0";

// Addresses as the service's own: the host's name and port 2222.
std::vector<run::PlannedReplica> PlanOf(const CustomJobSpec& spec) {
  std::vector<run::PlannedReplica> plan =
      run::PlanReplicas(ToRunSpec(spec, "us-central1", DefaultCatalog()));
  for (run::PlannedReplica& replica : plan) {
    replica.address = HostName(replica.id, kHostId) + ":2222";
  }
  return plan;
}

// One replica of one job, with everything that stays the same in these tests.
struct Scene {
  Scene(const Json& body, run::ReplicaId of) : job(Parsed(body)), replica(std::move(of)) {}

  EnvironmentFacts Facts() const {
    return {.spec = *job.spec,
            .plan = plan,
            .replica = replica,
            .job_id = "8501620632646057984",
            .project_id = "demo",
            .project_number = "123456789012",
            .region = "us-central1",
            .service_account = "trainer@demo.iam.gserviceaccount.com",
            .trial = trial,
            .metric_tag = trial.empty() ? "" : "accuracy",
            .arguments = {"--epochs", "2"},
            .output_directory = job.spec->BaseOutputDirectory(),
            .cloud_id = "w93a1503672d4dd09-ml",
            .host_id = kHostId,
            .boot_disk = "/disk",
            .path = "/usr/local/bin:/usr/bin:/bin",
            .cpus = 4,
            .endpoint = "http://127.0.0.1:8080"};
  }

  CustomJob job;
  run::ReplicaId replica;
  std::string trial = {};
  std::vector<run::PlannedReplica> plan = PlanOf(*job.spec);
};

Json WithOutput(Json job) {
  job["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"] = "gs://bkt/out";
  return job;
}

const run::ReplicaId kChief{"workerpool0", 0};
const run::ReplicaId kWorker1{"workerpool1", 1};
const run::ReplicaId kPs{"workerpool2", 0};
const run::ReplicaId kEvaluator{"workerpool3", 0};

TEST(Environment, LooksAsTheServiceWouldMakeIt) {
  struct Row {
    const char* name;
    Json body;
    run::ReplicaId replica;
    std::string trial = {};
  };
  const Row rows[] = {
      {"container_alone", AContainerJob(), kChief},
      {"container_alone_with_output", WithOutput(AContainerJob()), kChief},
      {"container_chief_of_3", WithPools(AContainerJob(), {2}), kChief},
      {"container_worker_1_of_3", WithOutput(WithPools(AContainerJob(), {2})), kWorker1},
      {"container_ps_of_5", WithPools(AContainerJob(), {2, 1, 1}), kPs},
      {"container_evaluator_of_5", WithPools(AContainerJob(), {2, 1, 1}), kEvaluator},
      {"container_evaluator_without_ps", WithPools(AContainerJob(), {0, 0, 1}), kEvaluator},
      {"container_trial_3", WithOutput(AContainerJob()), kChief, "3"},
      {"package_alone", APackageJob(), kChief},
      {"package_alone_with_output", WithOutput(APackageJob()), kChief},
      {"package_worker_1_of_3", WithPools(APackageJob(), {2}), kWorker1},
      {"package_evaluator_of_5", WithOutput(WithPools(APackageJob(), {2, 1, 1})), kEvaluator},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Scene scene(row.body, row.replica);
    scene.trial = row.trial;
    std::string text;
    for (const auto& [name, value] : RenderEnvironment(scene.Facts())) {
      text += name + "=" + value + "\n";
    }
    testing::ExpectGolden(std::string("vertex_environment/") + row.name + ".env", text);
  }
}

// The user of an image may have another home than /root, where gcloud has its configuration.
TEST(Environment, LeavesTheVariablesOfTheSystemToAnImage) {
  const Scene scene(AContainerJob(), kChief);
  EnvironmentFacts facts = scene.Facts();
  facts.has_own_image = true;
  const auto variables = RenderEnvironment(facts);
  for (const std::string name : {"PATH", "HOME", "USER", "LANG", "TMPDIR", "CLOUDSDK_CONFIG"}) {
    EXPECT_THAT(variables, Not(Contains(Key(name))));
  }
  EXPECT_THAT(variables, Contains(Key(std::string("CLOUDSDK_CORE_PROJECT"))));
}

TEST(Environment, NamesEachVariableOnce) {
  Json body = WithOutput(WithPools(APackageJob(), {1}));
  body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["env"] =
      FromText(R"([{"name": "TF_CONFIG", "value": "{}"}, {"name": "NEW", "value": "1"}])");
  const run::Environment variables = RenderEnvironment(Scene(body, kChief).Facts());
  std::set<std::string> names;
  for (const auto& [name, value] : variables) EXPECT_TRUE(names.insert(name).second) << name;
  EXPECT_THAT(variables, Contains(Pair("TF_CONFIG", "{}"))) << "the job's own value counts";
  EXPECT_EQ(variables.back().first, "NEW");
}

// The documentation's dump (docs/service/vertex.md, section 6).
TEST(Environment, HasTheClusterSpecOfTheDump) {
  Json body = WithPools(AContainerJob(), {2});
  body["jobSpec"]["workerPoolSpecs"][1]["containerSpec"].erase("args");
  EXPECT_EQ(
      RenderClusterSpec(Scene(body, {"workerpool1", 0}).Facts()),
      R"({"cluster":{"workerpool0":["cmle-training-workerpool0-4c1d6d97d0-0:2222"],"workerpool1":)"
      R"(["cmle-training-workerpool1-4c1d6d97d0-0:2222","cmle-training-workerpool1-4c1d6d97d0-1:)"
      R"(2222"]},"environment":"cloud","task":{"type":"workerpool1","index":0},"job":)"
      R"("{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[]}","open_ports":[3333]})");
}

TEST(Environment, HasTheTfConfigOfTheDump) {
  EXPECT_EQ(
      RenderTfConfig(Scene(WithPools(AContainerJob(), {2}), {"workerpool1", 0}).Facts()),
      R"({"cluster": {"chief": ["cmle-training-workerpool0-4c1d6d97d0-0:2222"], "worker": )"
      R"(["cmle-training-workerpool1-4c1d6d97d0-0:2222", )"
      R"("cmle-training-workerpool1-4c1d6d97d0-1:2222"]}, "task": {"type": "worker", "index": 0, )"
      R"("cloud": "w93a1503672d4dd09-ml"}, "job": {"python_module": "", "package_uris": [], )"
      R"("job_args": []}, "environment": "cloud"})");
}

TEST(Environment, WritesTheJobSafeForHtml) {
  Json body = APackageJob();
  body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"] = {"--a=<b>&'c'"};
  EXPECT_EQ(RenderJobText(Parsed(body).spec->pools[0]),
            R"({"python_module":"trainer.task","package_uris":["gs://bkt/trainer-0.1.tar.gz"],)"
            R"("job_args":["--a\u003d\u003cb\u003e\u0026\u0027c\u0027"]})");
}

TEST(Environment, HasTfConfigOnlyWithSeveralReplicas) {
  EXPECT_THAT(RenderEnvironment(Scene(AContainerJob(), kChief).Facts()),
              Not(Contains(Key("TF_CONFIG"))));
  EXPECT_THAT(RenderEnvironment(Scene(WithPools(AContainerJob(), {0, 1}), kChief).Facts()),
              Contains(Key("TF_CONFIG")));
}

TEST(Environment, HasNoVariableThatTheServiceDoesNotSet) {
  const run::Environment variables =
      RenderEnvironment(Scene(WithPools(APackageJob(), {1}), kChief).Facts());
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
                           "GOOGLE_CLOUD_PROJECT", "AIP_TF_PROFILER_PORT", "AIP_HTTP_HANDLER_PORT",
                           "AIP_MODEL_DIR", "AIP_USE_CUSTOM_CONTAINER"}) {
    EXPECT_THAT(variables, Not(Contains(Key(name))));
  }
}

TEST(Environment, NamesTheTensorboard) {
  Json body = AContainerJob();
  body["jobSpec"]["tensorboard"] = "projects/1/locations/us-central1/tensorboards/2";
  EXPECT_THAT(RenderEnvironment(Scene(body, kChief).Facts()),
              Contains(Pair("AIP_TENSORBOARD_RESOURCE_NAME",
                            "projects/1/locations/us-central1/tensorboards/2")));
}

TEST(Environment, ExpandsVariablesInItsEntries) {
  Json body = WithOutput(AContainerJob());
  body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"] = FromText(R"~([
    {"name": "A", "value": "$(AIP_MODEL_DIR)a"},
    {"name": "B", "value": "$(A)+$(C)"},
    {"name": "C", "value": "$(C)"},
    {"name": "D", "value": "$$(A) $(C) $(PATH)"}])~");
  const run::Environment variables = RenderEnvironment(Scene(body, kChief).Facts());
  const run::Environment last(variables.end() - 4, variables.end());
  EXPECT_THAT(last,
              ElementsAre(Pair("A", "gs://bkt/out/model/a"), Pair("B", "gs://bkt/out/model/a+$(C)"),
                          Pair("C", "$(C)"), Pair("D", "$(A) $(C) $(PATH)")))
      << "an entry sees those before it and the service's variables";
}

TEST(ExpandVariables, FollowsKubernetes) {
  struct Row {
    const char* text;
    const char* expanded;
  };
  const Row rows[] = {
      {"", ""},         {"plain", "plain"},     {"$(X)", "1"},    {"a$(X)b$(X)", "a1b1"},
      {"$(Y)", "$(Y)"}, {"$X ${X}", "$X ${X}"}, {"$", "$"},       {"$(X", "$(X"},
      {"$$", "$"},      {"$$(X)", "$(X)"},      {"$$$(X)", "$1"}, {"$$$$(X)", "$$(X)"},
      {"$()", "$()"},   {"$($(X))", "$($(X))"}, {"$(X)$", "1$"},
  };
  for (const Row& row : rows) EXPECT_EQ(ExpandVariables(row.text, {{"X", "1"}}), row.expanded);
}

TEST(RunningTaskText, IsTheLaunchersFirstWords) {
  EXPECT_EQ(RunningTaskText(Scene(APackageJob(), kChief).Facts()),
            R"(Running task with arguments: --cluster={"chief": )"
            R"(["cmle-training-workerpool0-4c1d6d97d0-0:2222"]} --task={"type": "chief", "index": )"
            R"(0} --job={"python_module": "trainer.task", "package_uris": )"
            R"(["gs://bkt/trainer-0.1.tar.gz"], "job_args": ["--epochs", "2"]})");
}

}  // namespace
}  // namespace caip::vertex
