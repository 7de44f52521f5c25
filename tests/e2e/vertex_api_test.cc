// Custom jobs and training pipelines of Vertex AI on a running server, called over HTTP
// (docs/service/vertex.md, sections 1 to 4).

#include "tests/e2e/vertex_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "base/encoding.h"
#include "host/machine/machines.h"
#include "places.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST_F(VertexApi, RunsACustomJob) {
  const Answer created = Create(Job("probe", 2));
  ASSERT_EQ(created.status, 200) << created.body;
  EXPECT_EQ(created.Text("state"), "JOB_STATE_PENDING");
  EXPECT_THAT(created.Text("name"),
              MatchesRegex("projects/123456789012/locations/us-central1/customJobs/[0-9]{1,19}"));
  const Json ended = AwaitEnd(created.Text("name"));
  EXPECT_EQ(StringOr(ended, "state"), "JOB_STATE_SUCCEEDED") << ended;
  for (const char* time : {"createTime", "startTime", "endTime", "updateTime"}) {
    EXPECT_FALSE(StringOr(ended, time).empty()) << time;
  }
  const Answer log = Ask("POST", "/v2/entries:list",
                         {{"resourceNames", {"projects/demo"}},
                          {"filter", "resource.type=\"ml_job\" AND resource.labels.job_id=\"" +
                                         IdOf(created.Text("name")) +
                                         "\" AND resource.labels.task_name=\"workerpool0-0\""}});
  std::string lines;
  for (const Json& entry : log.body["entries"]) lines += StringOr(entry, "textPayload") + "\n";
  EXPECT_THAT(lines, HasSubstr("CLUSTER_SPEC={\"cluster\":{\"workerpool0\":["));
  EXPECT_THAT(lines, HasSubstr("TF_CONFIG={\"cluster\": {\"chief\": ["));
  EXPECT_THAT(lines, HasSubstr("CLOUD_ML_PROJECT_ID=123456789012"));
}

// docs/service/vertex.md, section 10.
TEST_F(VertexApi, ReadsTheLogFilesOfAReplica) {
  const TemporaryDirectory trial;
  if (const auto why_not =
          host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path())) {
    GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }
  Json job = Job("probe");
  job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"] = {
      "sh", "-c",
      "echo '{\"severity\":\"WARNING\",\"step\":7}' > /var/log-storage/output-1.log; "
      "echo the last > /var/log-storage/output.log"};
  const std::string name = Create(job).Text("name");
  EXPECT_EQ(StringOr(AwaitEnd(name), "state"), "JOB_STATE_SUCCEEDED");
  const Answer log =
      Ask("POST", "/v2/entries:list",
          {{"resourceNames", {"projects/demo"}},
           {"filter", "resource.type=\"ml_job\" AND resource.labels.job_id=\"" + IdOf(name) +
                          "\" AND resource.labels.task_name=\"workerpool0-0\""}});
  std::map<std::string, std::string> entries;
  for (const Json& entry : log.body["entries"]) {
    const Json* object = Member(entry, "jsonPayload");
    entries[object ? CompactJson(*object) : StringOr(entry, "textPayload")] =
        StringOr(entry, "severity");
  }
  EXPECT_EQ(entries["{\"step\":7}"], "WARNING") << log.body;
  EXPECT_EQ(entries["the last"], "DEFAULT") << log.body;
}

TEST_F(VertexApi, IsKnownToTheCommandsOnAllJobs) {
  const std::string name = Create(Job("sleep", 2)).Text("name");
  const std::string id = IdOf(name);
  const auto run = [&](std::vector<std::string> words) { return caip_.Run(std::move(words)); };
  std::string rows;
  const auto lists = [&](const char* replica) { return rows.find(replica) != std::string::npos; };
  while (!lists("workerpool0-0") || !lists("workerpool1-0")) rows = run({"ps"}).out;
  EXPECT_THAT(rows, MatchesRegex("(.|\n)*" + id + " +(PREPARING|RUNNING) +workerpool0-0 (.|\n)*"));
  const Transcript described = run({"jobs", "describe", id});
  EXPECT_EQ(described.exit_code, 1);
  EXPECT_THAT(described.err, HasSubstr("caip ai custom-jobs describe " + id));
  EXPECT_EQ(run({"clean", "--older-than", "0"}).out, "") << "it runs";
  Ask("POST", "/v1/" + name + ":cancel");
  AwaitEnd(name);
  EXPECT_EQ(run({"clean", "--older-than", "0"}).out, id + "\n");
  EXPECT_EQ(Ask("GET", "/v1/" + name).status, 404);
}

TEST_F(VertexApi, ReportsAReplicaThatFails) {
  const Json ended = AwaitEnd(Create(Job("bad")).Text("name"));
  EXPECT_EQ(StringOr(ended, "state"), "JOB_STATE_FAILED");
  EXPECT_EQ(ended["error"]["code"], 3);
  EXPECT_THAT(StringOr(ended["error"], "message"),
              StartsWith("The replica workerpool0-0 exited with a non-zero status of 3. "));
}

TEST_F(VertexApi, RefusesAJobWithAllItsFaults) {
  Json job = Job("probe");
  job["displayName"] = "";
  job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["acceleratorType"] = "NVIDIA_TESLA_T4";
  const Answer refused = Create(job);
  EXPECT_EQ(refused.status, 400);
  const std::string message = StringOr(refused.body["error"], "message");
  EXPECT_THAT(message, StartsWith("List of found errors:\t1.Field: "));
  EXPECT_THAT(message, HasSubstr("Both `accelerator_type` and `accelerator_count` should be"));
  EXPECT_THAT(message, HasSubstr("Field: display_name;"));
  EXPECT_EQ(Create(Json{{"shownName", "x"}}).status, 400);
}

TEST_F(VertexApi, ListsByFilterNewestFirst) {
  const std::string first = Create(Job("probe")).Text("name");
  const std::string second = Create(Job("bad")).Text("name");
  AwaitEnd(first);
  AwaitEnd(second);
  const std::string all = std::string(kLocation) + "/customJobs";
  Answer list = Ask("GET", all + "?pageSize=1");
  ASSERT_EQ(list.body["customJobs"].size(), 1u);
  EXPECT_EQ(StringOr(list.body["customJobs"][0], "name"), second);
  list = Ask("GET", all + "?pageSize=1&pageToken=" + list.Text("nextPageToken"));
  EXPECT_EQ(StringOr(list.body["customJobs"][0], "name"), first);
  list = Ask("GET", all + "?readMask=name&filter=" + PercentEncoded("state=\"JOB_STATE_FAILED\""));
  EXPECT_EQ(list.body, (Json{{"customJobs", {{{"name", second}}}}}));
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/locations/europe-west4/customJobs").body, Json::object());
  EXPECT_EQ(Ask("GET", all + "?filter=color%3Dred").status, 400);
}

TEST_F(VertexApi, ListsOnAfterTheJobsOfAPageWereDeleted) {
  for (int i = 0; i < 3; ++i) AwaitEnd(Create(Job("probe")).Text("name"));
  const std::string all = std::string(kLocation) + "/customJobs";
  const Answer first = Ask("GET", all + "?pageSize=2");
  for (const Json& job : first.body["customJobs"]) {
    EXPECT_EQ(Ask("DELETE", "/v1/" + StringOr(job, "name")).status, 200);
  }
  const Answer rest = Ask("GET", all + "?pageSize=2&pageToken=" + first.Text("nextPageToken"));
  EXPECT_EQ(rest.status, 200);
  EXPECT_EQ(rest.body["customJobs"].size(), 1u);
  EXPECT_EQ(Ask("GET", all + "?pageToken=Y2FpcDovLi4v").status, 400) << "not a token of a list";
}

TEST_F(VertexApi, FiltersWithStars) {
  AwaitEnd(Create(Job("probe")).Text("name"));
  const auto count = [&](const std::string& filter) {
    const std::string query = "/customJobs?filter=" + PercentEncoded(filter);
    return Ask("GET", kLocation + query).body["customJobs"].size();
  };
  for (const char* filter : {"display_name:\"probe*\"", "display_name:\"*job\"",
                             "display_name:\"*obe*j*\"", "display_name:\"probe job\""}) {
    EXPECT_EQ(count(filter), 1u) << filter;
  }
  for (const char* filter :
       {"display_name:\"*probe\"", "labels.team:\"*\"", "display_name=\"probe*\""}) {
    EXPECT_EQ(count(filter), 0u) << filter;
  }
}

TEST_F(VertexApi, RefusesVariablesThatGrowBeyondWhatAProgramCanHave) {
  Json job = Job("probe");
  Json env = Json::array({{{"name", "A0"}, {"value", "xxxxxxxxxx"}}});
  for (int i = 1; i <= 40; ++i) {
    std::string value;
    for (int j = 0; j < 10; ++j) value += "$(A" + std::to_string(i - 1) + ")";
    env.push_back({{"name", "A" + std::to_string(i)}, {"value", value}});
  }
  job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"] = env;
  const Answer refused = Create(job);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(StringOr(refused.body["error"], "message"), HasSubstr("more than 131072 bytes"));
}

TEST_F(VertexApi, AnswersWithNumbersOfEnumsWhereAClientWantsThem) {
  Json job = Job("probe");
  job["jobSpec"]["scheduling"] = {{"strategy", 4}};
  const Answer created =
      Ask("POST", std::string(kLocation) + "/customJobs?%24alt=json%3Benum-encoding%3Dint", job);
  ASSERT_EQ(created.status, 200) << created.body;
  EXPECT_EQ(created.body["state"], 2);
  EXPECT_EQ(created.body["jobSpec"]["scheduling"]["strategy"], 4);
  const std::string name = created.Text("name");
  EXPECT_EQ(Ask("GET", "/v1/" + name + "?$alt=json;enum-encoding=int").status, 200);
  EXPECT_EQ(Ask("GET", "/v1/" + name).body["jobSpec"]["scheduling"]["strategy"], "SPOT");
}

TEST_F(VertexApi, CancelsAndDeletes) {
  const std::string name = Create(Job("sleep")).Text("name");
  EXPECT_EQ(Ask("DELETE", "/v1/" + name).status, 400) << "it has not ended";
  EXPECT_EQ(Ask("POST", "/v1/" + name + ":cancel").body, Json::object());
  const Json ended = AwaitEnd(name);
  EXPECT_EQ(StringOr(ended, "state"), "JOB_STATE_CANCELLED");
  EXPECT_EQ(ended["error"]["code"], 1);
  EXPECT_EQ(Ask("POST", "/v1/" + name + ":cancel", Json::object()).status, 200) << "no effect";
  EXPECT_EQ(Ask("POST", "/v1/" + name + ":cancel", {{"force", true}}).status, 400);

  const Answer deleted = Ask("DELETE", "/v1/" + name);
  EXPECT_EQ(deleted.body["done"], true);
  EXPECT_EQ(StringOr(deleted.body["metadata"], "@type"),
            "type.googleapis.com/google.cloud.aiplatform.v1.DeleteOperationMetadata");
  const std::string operation = deleted.Text("name");
  for (const char* root : {"/ui/", "/v1/", "/v1beta1/"}) {
    EXPECT_EQ(Ask("GET", root + operation).body, deleted.body) << root;
  }
  EXPECT_EQ(Ask("POST", "/ui/" + operation + ":wait").body, deleted.body);
  EXPECT_EQ(Ask("GET", "/v1/" + name).status, 404);
  EXPECT_EQ(Ask("GET", "/v1/" + operation + "0").status, 404);
}

TEST_F(VertexApi, RunsAPipelineAsACustomJob) {
  const Json pipeline = {{"displayName", "census"},
                         {"trainingTaskDefinition",
                          "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
                          "custom_task_1.0.0.yaml"},
                         {"trainingTaskInputs", JobSpec("probe")}};
  const Answer created = Ask("POST", std::string(kLocation) + "/trainingPipelines", pipeline);
  ASSERT_EQ(created.status, 200) << created.body;
  EXPECT_EQ(created.Text("state"), "PIPELINE_STATE_PENDING");
  const Json ended = AwaitEnd(created.Text("name"));
  EXPECT_EQ(StringOr(ended, "state"), "PIPELINE_STATE_SUCCEEDED");
  const std::string backing = StringOr(ended["trainingTaskMetadata"], "backingCustomJob");
  EXPECT_EQ(Ask("GET", "/v1/" + backing).Text("state"), "JOB_STATE_SUCCEEDED");
  const std::string all = std::string(kLocation) + "/trainingPipelines";
  EXPECT_EQ(Ask("GET", all).body["trainingPipelines"].size(), 1u);
  for (const char* filter : {"training_task_definition:\"*custom_task*\"",
                             "display_name=census AND state=PIPELINE_STATE_SUCCEEDED"}) {
    const Answer found = Ask("GET", all + "?filter=" + PercentEncoded(filter));
    EXPECT_EQ(found.body["trainingPipelines"].size(), 1u) << filter;
  }
  EXPECT_EQ(Ask("GET", std::string(kLocation) + "/customJobs").body["customJobs"].size(), 1u);
}

TEST_F(VertexApi, RunsATuningJobWhoseTrialsAreCustomJobs) {
  const std::string all_tuning = std::string(kLocation) + "/hyperparameterTuningJobs";
  const std::string all_custom = std::string(kLocation) + "/customJobs";
  const Answer created = Ask("POST", all_tuning, TuningJob());
  ASSERT_EQ(created.status, 200) << created.body;
  EXPECT_EQ(created.Text("state"), "JOB_STATE_PENDING");
  const std::string name = created.Text("name");
  const Json ended = AwaitEnd(name);
  ASSERT_EQ(StringOr(ended, "state"), "JOB_STATE_SUCCEEDED") << ended;
  ASSERT_EQ(ended["trials"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Json& trial = ended["trials"][i];
    EXPECT_EQ(StringOr(trial, "id"), std::to_string(i + 1));
    EXPECT_EQ(StringOr(trial, "state"), "SUCCEEDED");
    EXPECT_EQ(trial["parameters"], Json::array({{{"parameterId", "layers"}, {"value", i + 1}}}));
    EXPECT_EQ(StringOr(trial["finalMeasurement"], "stepCount"), "10");
    const double accuracies[] = {0.1, 0.2, 0.3};
    EXPECT_EQ(trial["finalMeasurement"]["metrics"][0]["value"], accuracies[i]);
    const Answer custom = Ask("GET", "/v1/" + StringOr(trial, "customJob"));
    EXPECT_EQ(custom.Text("state"), "JOB_STATE_SUCCEEDED") << custom.body;
    EXPECT_EQ(custom.Text("name"), StringOr(trial, "customJob"));
  }

  Create(Job("bad"));
  Answer list = Ask("GET", all_custom + "?readMask=displayName&pageSize=3");
  EXPECT_EQ(list.body["customJobs"], Json::array({{{"displayName", "bad job"}},
                                                  {{"displayName", "study-trial-3"}},
                                                  {{"displayName", "study-trial-2"}}}));
  list = Ask("GET", all_custom + "?readMask=displayName&pageToken=" + list.Text("nextPageToken"));
  EXPECT_EQ(list.body, (Json{{"customJobs", {{{"displayName", "study-trial-1"}}}}}));
  list = Ask("GET", all_tuning + "?readMask=name&filter=" + PercentEncoded("display_name=study"));
  EXPECT_EQ(list.body, (Json{{"hyperparameterTuningJobs", {{{"name", name}}}}}));

  const std::string trial = StringOr(ended["trials"][0], "customJob");
  const Transcript described = caip_.Run({"ai", "hp-tuning-jobs", "describe", name});
  EXPECT_EQ(described.exit_code, 0) << described.err;
  EXPECT_THAT(described.out, HasSubstr("customJob: " + trial));
  EXPECT_EQ(Ask("POST", "/v1/" + trial + ":cancel").status, 200) << "it has ended";
  EXPECT_EQ(Ask("DELETE", "/v1/" + trial).status, 400) << "it goes with its job";
  EXPECT_EQ(Ask("GET", all_custom + "/" + IdOf(name)).status, 404);
  EXPECT_EQ(Ask("GET", all_tuning + "/" + IdOf(trial)).status, 404);
  EXPECT_EQ(Ask("POST", "/v1/" + name + ":cancel").body, Json::object());
  EXPECT_EQ(Ask("DELETE", "/v1/" + name).body["done"], true);
  EXPECT_EQ(Ask("GET", "/v1/" + name).status, 404);
  EXPECT_EQ(Ask("GET", "/v1/" + trial).status, 404);
}

TEST_F(VertexApi, RefusesATuningJobWithAllItsFaults) {
  Json job = TuningJob();
  job["studySpec"]["metrics"][0].erase("goal");
  job.erase("maxTrialCount");
  const Answer refused = Ask("POST", std::string(kLocation) + "/hyperparameterTuningJobs", job);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(StringOr(refused.body["error"], "message"),
            "List of found errors:\t1.Field: study_spec.metrics[0].goal; Message: Required field "
            "is not set.\t2.Field: max_trial_count; Message: Required field is not set.\t");
}

TEST_F(VertexApi, IsSeparateFromTheOlderApi) {
  AwaitEnd(Create(Job("probe")).Text("name"));
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/jobs").body, Json::object());
  const std::string id = IdOf(
      StringOr(Ask("GET", std::string(kLocation) + "/customJobs").body["customJobs"][0], "name"));
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/jobs/" + id).status, 404);
  EXPECT_EQ(Ask("POST", "/v1/projects/demo/jobs/" + id + ":cancel").status, 404);
  EXPECT_EQ(Ask("GET", "/v1/projects/other/locations/us-central1/customJobs/" + id).status, 404);
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/locations/europe-west4/customJobs/" + id).status, 404);
}

TEST_F(VertexApi, NamesWhatItDoesNotServe) {
  const Answer models = Ask("GET", std::string(kLocation) + "/models");
  EXPECT_EQ(models.status, 501);
  EXPECT_THAT(StringOr(models.body["error"], "message"), HasSubstr("models"));
  EXPECT_EQ(Ask("POST", std::string(kLocation) + "/models:upload", Json::object()).status, 501);
  EXPECT_EQ(Ask("POST", std::string(kLocation) + "/nasJobs", Json::object()).status, 501);
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/locations/mars/customJobs").status, 400);
}

TEST_F(VertexApi, ChecksAJobWithoutCreatingIt) {
  const std::string check = "/emulator" + std::string(kLocation) + "/customJobs:check";
  EXPECT_EQ(Ask("POST", check, {{"job", Job("probe")}}).body, Json::object());
  EXPECT_EQ(Ask("POST", check, {{"job", Json::object()}}).status, 400);
  EXPECT_EQ(Ask("GET", std::string(kLocation) + "/customJobs").body, Json::object());
}

TEST_F(VertexApi, IsDescribedByItsDiscoveryDocument) {
  const Answer document = Ask("GET", "/discovery/v1/apis/aiplatform/v1/rest");
  ASSERT_EQ(document.status, 200);
  const Json& jobs =
      document.body["resources"]["projects"]["resources"]["locations"]["resources"]["customJobs"];
  EXPECT_EQ(StringOr(jobs["methods"]["create"], "flatPath"),
            "v1/projects/{projectsId}/locations/{locationsId}/customJobs");
  const Json& schemas = document.body["schemas"];
  EXPECT_TRUE(schemas.contains("GoogleCloudAiplatformV1WorkerPoolSpec"));
  EXPECT_TRUE(schemas["GoogleCloudAiplatformV1CustomJob"]["properties"].contains("jobSpec"));
  EXPECT_EQ(StringOr(variables_, "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM"),
            StringOr(variables_, "STORAGE_EMULATOR_HOST") + "/");
}

TEST_F(VertexApi, IsDescribedInItsBetaVersionToo) {
  const Answer document = Ask("GET", "/discovery/v1/apis/aiplatform/v1beta1/rest");
  ASSERT_EQ(document.status, 200);
  const Json& jobs =
      document.body["resources"]["projects"]["resources"]["locations"]["resources"]["customJobs"];
  EXPECT_EQ(StringOr(jobs["methods"]["create"], "flatPath"),
            "v1beta1/projects/{projectsId}/locations/{locationsId}/customJobs");
  EXPECT_EQ(StringOr(jobs["methods"]["create"]["request"], "$ref"),
            "GoogleCloudAiplatformV1beta1CustomJob");
}

TEST_F(VertexApi, KeepsItsJobsWhenTheEmulatorStartsAgain) {
  const std::string done = Create(Job("probe")).Text("name");
  AwaitEnd(done);
  const std::string running = Create(Job("sleep")).Text("name");
  for (const int pid : ProcessesMentioning(caip_.state().string())) ::kill(pid, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return ProcessesMentioning(caip_.state().string()).empty(); }));
  SetUp();
  EXPECT_EQ(Ask("GET", "/v1/" + done).Text("state"), "JOB_STATE_SUCCEEDED");
  Ask("POST", "/v1/" + running + ":cancel");
  EXPECT_EQ(StringOr(AwaitEnd(running), "state"), "JOB_STATE_CANCELLED");
}

}  // namespace
}  // namespace caip::testing
