#include "ml/schema/job_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/time_text.h"
#include "tests/ml/a_job.h"
#include "tests/support/golden.h"

namespace caip::ml {
namespace {

using std::chrono::seconds;

Job Parsed(const std::string& text) {
  const auto document = ParseJson(text);
  EXPECT_TRUE(document.ok()) << text;
  const auto job = ParseJob(*document);
  EXPECT_TRUE(job.ok()) << job.error().message;
  return job.ok() ? *job : Job{};
}

// Every field of a Job has a value, so that nothing can be forgotten unseen.
Job AFullJob() {
  Job job = ATuningJob();
  job.labels = {{"team", "vision"}, {"phase", ""}};
  job.etag = std::string("\x01\x02\xff\x00\x10\x20\x30\x40", 8);
  job.state = run::JobState::kRunning;
  job.create_time = *ParseRfc3339("2022-02-09T17:36:42.123456789Z");
  job.start_time = *ParseRfc3339("2022-02-09T17:38:00Z");
  job.end_time = *ParseRfc3339("2022-02-09T18:00:00.999Z");
  job.error_message = "The replica master 0 exited with a non-zero status of 1.";
  job.job_position = 3;
  TrainingInput& input = *job.training_input;
  input.scale_tier = "CUSTOM";
  input.master.machine_type = "n1-standard-8";
  ReplicaConfig& master = input.master.config.emplace();
  master.accelerator_config = AcceleratorConfig{2, "NVIDIA_TESLA_T4"};
  master.image_uri = "gcr.io/p/i:1";
  master.disk_config = DiskConfig{"pd-standard", 200};
  master.container_command = {"python"};
  master.container_args = {"-m", "x"};
  input.worker = {"cloud_tpu", ReplicaConfig{}, 1};
  input.worker.config->tpu_tf_version = "2.1";
  input.parameter_server = {"n1-highmem-8", ReplicaConfig{}, 3};
  input.evaluator = {"n1-standard-4", std::nullopt, 1};
  input.args = {"--epochs", "2"};
  input.job_dir = "gs://bkt/out";
  input.use_chief_in_tf_config = true;
  input.scheduling = Scheduling{seconds(7200), Duration(1800'500'000'000), 10, true, "LOW_COST"};
  input.network = "projects/1/global/networks/n";
  input.service_account = "a@b.c";
  input.has_encryption_config = true;
  input.kms_key_name = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k";
  input.enable_web_access = true;
  input.hyperparameters->max_failed_trials = 4;
  input.hyperparameters->enable_trial_early_stopping = true;
  input.hyperparameters->resume_previous_job_id = "earlier";
  input.hyperparameters->algorithm = "RANDOM_SEARCH";
  TrainingOutput& output = job.training_output.emplace();
  output.completed_trial_count = 1;
  output.consumed_ml_units = 3.5512;
  output.is_hyperparameter_tuning_job = true;
  output.is_built_in_algorithm_job = true;
  output.built_in_algorithm_output = BuiltInAlgorithmOutput{"TENSORFLOW", "1.15", "3.7", "gs://m"};
  output.hyperparameter_metric_tag = "metric1";
  output.web_access_uris = {{"master-replica-0", "http://127.0.0.1:1"}};
  HyperparameterOutput& trial = output.trials.emplace_back();
  trial.trial_id = "5";
  trial.hyperparameters = {{"batch_size", "40"}, {"learning_rate", "0.072136064767837529"}};
  trial.final_metric = {1007, 0.0253916177899};
  trial.is_trial_stopped_early = true;
  trial.state = run::JobState::kSucceeded;
  trial.start_time = *ParseRfc3339("2022-02-09T17:38:00Z");
  trial.end_time = *ParseRfc3339("2022-02-09T17:50:00Z");
  trial.built_in_algorithm_output = output.built_in_algorithm_output;
  trial.web_access_uris = output.web_access_uris;
  return job;
}

TEST(JobJson, AFullJobIsShownAsTheApiDoes) {
  testing::ExpectGolden("job/full.json", PrettyJson(ToJson(AFullJob())) + "\n");
}

TEST(JobJson, ATrainingInputIsShownInSnakeCaseForTfConfig) {
  testing::ExpectGolden("job/full_training_input_snake_case.json",
                        PrettyJson(ToSnakeCaseJson(*AFullJob().training_input)) + "\n");
}

// Example A of docs/service/replica-environment.md, section 2.
TEST(JobJson, TheExampleOfTfConfigIsReproducedByteForByte) {
  TrainingInput input;
  input.scale_tier = "BASIC";
  input.package_uris = {"gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"};
  input.python_module = "trainer.task";
  input.args = {"--epochs", "2", "--job-dir", "gs://bkt/out"};
  input.region = "us-central1";
  input.runtime_version = "2.4";
  input.python_version = "3.7";
  input.job_dir = "gs://bkt/out";
  EXPECT_EQ(PythonJson(ToSnakeCaseJson(input)),
            R"({"scale_tier": "BASIC", "package_uris": ["gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"], )"
            R"("python_module": "trainer.task", "args": ["--epochs", "2", "--job-dir", )"
            R"("gs://bkt/out"], "region": "us-central1", "runtime_version": "2.4", )"
            R"("python_version": "3.7", "job_dir": "gs://bkt/out"})");
}

TEST(JobJson, TheStoreKeepsEverythingAndNanoseconds) {
  const Job job = AFullJob();
  const Json stored = ToStoredJson(job);
  EXPECT_EQ(stored["createTime"], "2022-02-09T17:36:42.123456789Z");
  const auto back = FromStoredJson(stored);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(CompactJson(ToStoredJson(*back)), CompactJson(stored));
  EXPECT_EQ(back->create_time, job.create_time);
  EXPECT_EQ(back->etag, job.etag);
  EXPECT_EQ(back->state, run::JobState::kRunning);
  EXPECT_EQ(back->training_output->consumed_ml_units, 3.5512);
  EXPECT_EQ(back->training_output->trials[0].final_metric,
            std::pair(int64_t{1007}, 0.0253916177899));
  EXPECT_EQ(back->training_input->scheduling->max_wait_time, Duration(1800'500'000'000));
  EXPECT_EQ(back->training_input->master.config->accelerator_config->count, 2);
}

TEST(JobJson, OfAFullJobNoFieldOfTheInputIsLostOnTheWay) {
  const Json shown = ToJson(AFullJob());
  const auto parsed = ParseJob(shown);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(CompactJson(ToJson(*parsed)["trainingInput"]), CompactJson(shown["trainingInput"]));
}

TEST(JobJson, DefaultsAreLeftOut) {
  Job job;
  job.job_id = "j";
  TrainingInput& input = job.training_input.emplace();
  input.scheduling.emplace().strategy = "STRATEGY_UNSPECIFIED";
  input.master.config.emplace().accelerator_config = {0, "ACCELERATOR_TYPE_UNSPECIFIED"};
  EXPECT_EQ(CompactJson(ToJson(job)),
            R"({"jobId":"j","trainingInput":{"masterConfig":{"acceleratorConfig":{}},)"
            R"("scheduling":{}}})");
  EXPECT_EQ(CompactJson(ToJson(Job{})), "{}");
}

// docs/service/api.md, section 1: default-valued fields are omitted. A published job has a range
// with `maxValue: 1` alone.
TEST(JobJson, AZeroBoundIsLeftOutOfAnswersAndKept) {
  Job job = ATuningJob();
  job.training_input->hyperparameters->params = {{"x", "DOUBLE", 0.0, 1.5, {}, {}, ""},
                                                 {"y", "DISCRETE", {}, {}, {0.0, 1.0}, {}, ""}};
  EXPECT_EQ(CompactJson(ToJson(job)["trainingInput"]["hyperparameters"]["params"]),
            R"([{"parameterName":"x","type":"DOUBLE","maxValue":1.5},)"
            R"({"parameterName":"y","type":"DISCRETE","discreteValues":[0,1]}])");
  const auto stored = FromStoredJson(ToStoredJson(job));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->training_input->hyperparameters->params[0].min_value, 0.0);
}

// docs/service/api.md, section 7: published answers to jobs that were sent with BASIC have no tier.
TEST(JobJson, TheBasicTierIsLeftOutOfAnswersAndKept) {
  Job job;
  job.training_input.emplace().scale_tier = "BASIC";
  job.training_input->region = "us-central1";
  EXPECT_EQ(CompactJson(ToJson(job)), R"({"trainingInput":{"region":"us-central1"}})");
  EXPECT_EQ(ToSnakeCaseJson(*job.training_input)["scale_tier"], "BASIC") << "in TF_CONFIG";
  const auto stored = FromStoredJson(ToStoredJson(job));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->training_input->scale_tier, "BASIC");
  job.training_input->scale_tier = "BASIC_GPU";
  EXPECT_EQ(ToJson(job)["trainingInput"]["scaleTier"], "BASIC_GPU");
}

TEST(JobJson, ANoneScaleIsLeftOutBecauseItIsTheDefault) {
  Job job = ATuningJob();
  job.training_input->hyperparameters->params = {{"x", "DOUBLE", 1.0, 2.0, {}, {}, "NONE"}};
  EXPECT_EQ(CompactJson(ToJson(job)["trainingInput"]["hyperparameters"]["params"]),
            R"([{"parameterName":"x","type":"DOUBLE","minValue":1,"maxValue":2}])");
  EXPECT_EQ(CompactJson(ToSnakeCaseJson(*job.training_input)["hyperparameters"]["params"]),
            R"([{"parameter_name":"x","type":"DOUBLE","min_value":1,"max_value":2}])");
}

TEST(JobJson, NumbersThatJsonCannotWriteAreTexts) {
  Job job;
  HyperparameterOutput& trial = job.training_output.emplace().trials.emplace_back();
  const std::pair<double, const char*> rows[] = {
      {std::nan(""), R"({"objectiveValue":"NaN"})"},
      {std::numeric_limits<double>::infinity(), R"({"objectiveValue":"Infinity"})"},
      {-std::numeric_limits<double>::infinity(), R"({"objectiveValue":"-Infinity"})"},
      {0.0, "{}"},  // the metric is there; its zeros are not shown
      {1e300, R"({"objectiveValue":1e+300})"},
  };
  for (const auto& [value, shown] : rows) {
    trial.final_metric = {0, value};
    const Json json = ToJson(job);
    EXPECT_EQ(CompactJson(json["trainingOutput"]["trials"][0]["finalMetric"]), shown);
    EXPECT_TRUE(FromStoredJson(ToStoredJson(job)).ok()) << shown;
  }
}

TEST(ParseJob, BothSpellingsOfNamesAreRead) {
  const Job camel = Parsed(
      R"({"jobId": "j", "trainingInput": {"pythonModule": "m", "parameterServerCount": 2,
          "masterConfig": {"imageUri": "i"}}})");
  const Job snake = Parsed(
      R"({"job_id": "j", "training_input": {"python_module": "m", "parameter_server_count": "2",
          "master_config": {"image_uri": "i"}}})");
  EXPECT_EQ(CompactJson(ToJson(camel)), CompactJson(ToJson(snake)));
  EXPECT_EQ(snake.training_input->parameter_server.count, 2);
  EXPECT_EQ(snake.training_input->master.config->image_uri, "i");
}

TEST(ParseJob, IntegersMayBeNumbersOrTexts) {
  for (const char* count : {"2", "\"2\"", "2.0", "2e0"}) {
    const Job job = Parsed(std::string(R"({"trainingInput": {"workerCount": )") + count +
                           R"(, "hyperparameters": {"maxTrials": )" + count + "}}}");
    EXPECT_EQ(job.training_input->worker.count, 2) << count;
    EXPECT_EQ(job.training_input->hyperparameters->max_trials, 2) << count;
  }
  const Job largest = Parsed(R"({"trainingInput": {"workerCount": "9223372036854775807"}})");
  EXPECT_EQ(largest.training_input->worker.count, INT64_MAX);
}

TEST(ParseJob, EnumsMayBeNamesOrNumbers) {
  const Job job = Parsed(R"({"trainingInput": {"scaleTier": 5, "masterConfig":
      {"acceleratorConfig": {"type": 5, "count": 1}}, "scheduling": {"strategy": "LOW_COST"}}})");
  EXPECT_EQ(job.training_input->scale_tier, "CUSTOM");
  EXPECT_EQ(job.training_input->master.config->accelerator_config->type, "NVIDIA_TESLA_T4");
  EXPECT_EQ(job.training_input->scheduling->strategy, "LOW_COST");
}

TEST(ParseJob, NumbersMayBeTexts) {
  const Job job = Parsed(R"({"trainingInput": {"hyperparameters": {"params": [
      {"minValue": "0.5", "maxValue": "NaN", "discreteValues": [1, 2.5, "-Infinity"]}]}}})");
  const ParameterSpec& parameter = job.training_input->hyperparameters->params.at(0);
  EXPECT_EQ(parameter.min_value, 0.5);
  EXPECT_TRUE(std::isnan(*parameter.max_value));
  EXPECT_EQ(parameter.discrete_values[1], 2.5);
  EXPECT_TRUE(std::isinf(parameter.discrete_values[2]));
}

TEST(ParseJob, NullIsNotSet) {
  const Job job = Parsed(R"({"jobId": null, "labels": null, "trainingInput":
      {"region": "us-east1", "hyperparameters": null, "args": null, "workerCount": null}})");
  EXPECT_EQ(job.job_id, "");
  EXPECT_FALSE(job.training_input->hyperparameters);
  EXPECT_EQ(job.training_input->region, "us-east1");
}

TEST(ParseJob, DurationsAreDecimalSeconds) {
  const Job job = Parsed(R"({"trainingInput": {"scheduling":
      {"maxWaitTime": "3600s", "maxRunningTime": "1.5s"}}})");
  EXPECT_EQ(job.training_input->scheduling->max_wait_time, seconds(3600));
  EXPECT_EQ(job.training_input->scheduling->max_running_time, Duration(1'500'000'000));
}

TEST(ParseJob, WhatOnlyTheServiceCanSayIsReadAndForgotten) {
  const Job job = Parsed(R"({"jobId": "j", "etag": "AQID", "state": "FAILED", "errorMessage": "x",
      "createTime": "2022-02-09T17:36:42Z", "jobPosition": "4",
      "trainingOutput": {"consumedMLUnits": 3, "trials": [{"trialId": "1"}]},
      "predictionOutput": {"outputPath": "x"}})");
  EXPECT_EQ(job.job_id, "j");
  EXPECT_EQ(job.etag, "\x01\x02\x03");
  EXPECT_EQ(job.state, run::JobState::kUnspecified);
  EXPECT_EQ(job.error_message, "");
  EXPECT_FALSE(job.create_time);
  EXPECT_EQ(job.job_position, 0);
  EXPECT_FALSE(job.training_output);
}

TEST(ParseJob, InputsThatAreNotOursAreRecognised) {
  EXPECT_TRUE(Parsed(R"({"predictionInput": {"any": 1}})").has_prediction_input);
  EXPECT_TRUE(Parsed(R"({"explanation_input": {}})").has_explanation_input);
  EXPECT_TRUE(
      Parsed(R"({"trainingInput": {"nasJobSpec": {"any": 1}}})").training_input->has_nas_job_spec);
}

TEST(ParseJob, AnEmptyMessageIsThere) {
  const Job job = Parsed(R"({"trainingInput": {"encryptionConfig": {}, "workerConfig": {}}})");
  EXPECT_TRUE(job.training_input->has_encryption_config);
  EXPECT_TRUE(job.training_input->worker.config.has_value());
  EXPECT_FALSE(job.training_input->master.config.has_value());
}

}  // namespace
}  // namespace caip::ml
