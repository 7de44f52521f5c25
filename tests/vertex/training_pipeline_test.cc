// docs/service/vertex.md, section 3: pipelines whose task is a custom job.

#include "vertex/training_pipeline.h"

#include "base/time_text.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/document.h"
#include "vertex/render.h"
#include "vertex/resource_names.h"

namespace caip::vertex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// As the Python client writes the inputs: both spellings, doubles, nulls.
Json APipeline() {
  return FromText(R"({
    "displayName": "census",
    "labels": {"team": "a"},
    "trainingTaskDefinition":
        "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml",
    "trainingTaskInputs": {
      "workerPoolSpecs": [{
        "replica_count": 1.0,
        "machine_spec": {"machine_type": "n1-standard-4",
                         "accelerator_type": "NVIDIA_TESLA_T4", "accelerator_count": 1.0},
        "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
        "container_spec": null,
        "python_package_spec": {
          "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest",
          "package_uris": ["gs://bkt/trainer-0.1.tar.gz"],
          "python_module": "trainer.task",
          "env": [{"name": "A", "value": "1"}]}}],
      "baseOutputDirectory": {"output_uri_prefix": "gs://bkt/out"},
      "scheduling": {"timeout": "3600s", "strategy": 4.0}}})");
}

TrainingPipeline Read(const Json& body) {
  auto pipeline = ParseTrainingPipeline(body);
  EXPECT_TRUE(pipeline.ok()) << (pipeline.ok() ? "" : pipeline.error().message);
  return pipeline.ok() ? *pipeline : TrainingPipeline{};
}

Error Refused(const Json& body) {
  const auto job = CustomJobOf(Read(body), "us-central1", {});
  EXPECT_FALSE(job.ok());
  return job.ok() ? Error{} : job.error();
}

TEST(TrainingPipeline, MakesACustomJobOfItsInputs) {
  const auto job = CustomJobOf(Read(APipeline()), "us-central1", {});
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->display_name, "census-custom-job");
  EXPECT_EQ(job->labels.at("team"), "a");
  EXPECT_TRUE(job->spec->scheduling.IsSpot());
  EXPECT_EQ(job->spec->scheduling.timeout, std::chrono::hours(1));
  const WorkerPoolSpec& pool = job->spec->pools.at(0);
  EXPECT_FALSE(pool.container);
  EXPECT_EQ(pool.machine->accelerator_count, 1);
  EXPECT_EQ(pool.python_package->env.at(0).name, "A");
  EXPECT_EQ(ToStoredJson(*job)["displayName"], "census-custom-job");
  EXPECT_EQ(ToStoredJson(*job)["jobSpec"]["workerPoolSpecs"][0]["replicaCount"], "1");
}

TEST(TrainingPipeline, CutsALongNameInTheNameOfItsJob) {
  Json body = APipeline();
  body["displayName"] = std::string(128, 'n');
  const auto job = CustomJobOf(Read(body), "us-central1", {});
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->display_name, std::string(117, 'n') + "-custom-job");
  body["trainingTaskDefinition"] = "gs://x/hyperparameter_tuning_task_1.0.0.yaml";
  body["trainingTaskInputs"] = AStudyJob();
  body["trainingTaskInputs"].erase("displayName");
  const auto tuning = TuningJobOf(Read(body), "us-central1", {});
  ASSERT_TRUE(tuning.ok()) << tuning.error().message;
  EXPECT_EQ(tuning->trial.display_name, std::string(102, 'n') + "-hyperparameter-tuning-job");
}

TEST(TrainingPipeline, ReportsViolationsUnderItsOwnNames) {
  Json body = APipeline();
  body.erase("displayName");
  body.erase("trainingTaskDefinition");
  body["trainingTaskInputs"]["workerPoolSpecs"][0]["machine_spec"]["machine_type"] = "fast";
  EXPECT_THAT(
      Told(Refused(body).violations),
      ElementsAre(StartsWith("training_task_inputs.worker_pool_specs[0].machine_spec.machine_type: "
                             "'fast' is not a machine type"),
                  "display_name: Required field is not set.",
                  "training_task_definition: Required field is not set."));
  body = APipeline();
  body.erase("trainingTaskInputs");
  EXPECT_THAT(Told(Refused(body).violations),
              ElementsAre("training_task_inputs: Required field is not set."));
}

TEST(TrainingPipeline, RefusesUnknownNamesInItsInputs) {
  Json body = APipeline();
  body["trainingTaskInputs"]["jobDir"] = "gs://bkt/x";
  EXPECT_EQ(Refused(body).message,
            "Invalid JSON payload received. Unknown name \"jobDir\" at "
            "'training_pipeline.training_task_inputs': Cannot find field.");
  body = APipeline();
  body["speed"] = 1;
  EXPECT_THAT(ParseTrainingPipeline(body).error().message,
              HasSubstr("Unknown name \"speed\" at 'training_pipeline'"));
  EXPECT_FALSE(ParseTrainingPipeline(Json::array()).ok());
}

TEST(TrainingPipeline, NamesWhatIsNotServed) {
  struct Row {
    const char* field;
    const char* value;
    const char* told;
  };
  const Row rows[] = {
      {"modelToUpload", R"({"displayName": "m"})", "'modelToUpload'"},
      {"inputDataConfig", R"({"datasetId": "7"})", "'inputDataConfig'"},
      {"trainingTaskDefinition", "\"gs://x/automl_tabular_1.0.0.yaml\"",
       "'gs://x/automl_tabular_1.0.0.yaml'"},
  };
  for (const Row& row : rows) {
    Json body = APipeline();
    body[row.field] = FromText(row.value);
    const Error error = Refused(body);
    EXPECT_EQ(error.code, Code::kUnimplemented) << row.field;
    EXPECT_THAT(error.message, HasSubstr(row.told));
  }
  Json body = APipeline();
  body["modelToUpload"] = Json::object();
  body["inputDataConfig"] = nullptr;
  EXPECT_TRUE(CustomJobOf(Read(body), "us-central1", {}).ok());
}

TEST(TrainingPipeline, FindsItsJobByItsOwnId) {
  EXPECT_EQ(BackingJobId("4711"), BackingJobId("4711"));
  EXPECT_NE(BackingJobId("4711"), BackingJobId("4712"));
  EXPECT_TRUE(IsJobId(BackingJobId("4711")));
}

TEST(TrainingPipeline, ShowsTheStateAndTheErrorOfItsJob) {
  const TrainingPipeline pipeline = Read(APipeline());
  run::Job job;
  job.key = {"demo", BackingJobId("4711"), "", "us-central1"};
  job.state = run::JobState::kFailed;
  job.create_time = ParseRfc3339("2026-01-02T03:04:05Z");
  job.end_cause = run::EndCause::kReplicaFailed;
  job.error_message = "why";
  job.document = ToDocument(*CustomJobOf(pipeline, "us-central1", {}), "us-central1",
                            StoredPipeline{"4711", pipeline.plain});
  const auto shown = RenderTrainingPipeline(job, {.project_number = "123"});
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  EXPECT_EQ((*shown)["name"], "projects/123/locations/us-central1/trainingPipelines/4711");
  EXPECT_EQ((*shown)["displayName"], "census");
  EXPECT_EQ((*shown)["state"], "PIPELINE_STATE_FAILED");
  EXPECT_EQ((*shown)["error"], (Json{{"code", 3}, {"message", "why"}}));
  EXPECT_EQ((*shown)["createTime"], "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ((*shown)["trainingTaskInputs"], APipeline()["trainingTaskInputs"])
      << "as the client wrote them";
  EXPECT_EQ((*shown)["trainingTaskMetadata"]["backingCustomJob"],
            "projects/123/locations/us-central1/customJobs/" + BackingJobId("4711"));
  const auto custom = RenderCustomJob(job, {.project_number = "123"});
  EXPECT_EQ((*custom)["name"], (*shown)["trainingTaskMetadata"]["backingCustomJob"]);
  EXPECT_EQ((*RenderTrainingPipeline(job, {.enum_numbers = true}))["state"], 5);
}

TEST(TrainingPipeline, IsNotFoundForAnotherJob) {
  run::Job job;
  job.document = ToDocument(Parsed(AContainerJob()), "us-central1");
  const auto shown = RenderTrainingPipeline(job, {});
  ASSERT_FALSE(shown.ok());
  EXPECT_EQ(shown.error().code, Code::kNotFound);
  EXPECT_FALSE(IsPipelineJob(job.document));
}

}  // namespace
}  // namespace caip::vertex
