// docs/service/vertex.md, sections 1 and 8: what the body of a tuning job may look like, and what
// it asks the engine to run.

#include "tests/vertex/a_study_job.h"
#include "vertex/study.h"
#include "vertex/to_run_spec.h"

namespace caip::vertex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(TuningJobJson, ReadsBothSpellingsAndNumbersOfEnums) {
  const TuningJob job = ParsedStudy(FromText(R"({
    "display_name": "study",
    "study_spec": {
      "metrics": [{"metric_id": "loss", "goal": 2}],
      "algorithm": 3, "measurementSelectionType": 2, "observation_noise": "HIGH",
      "parameters": [{"parameter_id": "rate", "scaleType": 2,
                      "double_value_spec": {"max_value": 1.0, "minValue": 0.5}}]},
    "max_trial_count": 5.0, "parallelTrialCount": "2", "maxFailedTrialCount": null,
    "trial_job_spec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"},
                                            "containerSpec": {"imageUri": "gcr.io/p/i"}}]},
    "name": "mine", "trials": [{"id": "x"}], "state": 5})"));
  EXPECT_EQ(job.trial.display_name, "study");
  EXPECT_EQ(job.trial.spec->pools.at(0).container->image_uri, "gcr.io/p/i");
  EXPECT_EQ(job.max_trials, 5);
  EXPECT_EQ(job.max_parallel, 2);
  EXPECT_EQ(job.max_failed, 0);
  EXPECT_EQ(job.study->metrics.at(0).goal, "MINIMIZE");
  EXPECT_EQ(job.study->algorithm, "RANDOM_SEARCH");
  EXPECT_EQ(job.study->measurement_selection, "BEST_MEASUREMENT");
  EXPECT_EQ(job.study->parameters.at(0).scale, "UNIT_LOG_SCALE");
  EXPECT_EQ(job.study->parameters.at(0).doubles->least, 0.5);
  EXPECT_FALSE(job.plain.contains("trials")) << "only the service sets it";
  EXPECT_FALSE(job.plain.contains("name"));
}

TEST(TuningJobJson, RefusesUnknownNamesAndNumbers) {
  Json body = AStudyJob();
  body["studySpec"]["metrics"][0]["tag"] = "x";
  EXPECT_EQ(ParseTuningJob(body).error().message,
            "Invalid JSON payload received. Unknown name \"tag\" at "
            "'hyperparameter_tuning_job.study_spec.metrics[0]': Cannot find field.");
  for (const int number : {1, 4, -1}) {
    body = AStudyJob();
    body["studySpec"]["algorithm"] = number;
    EXPECT_THAT(ParseTuningJob(body).error().message,
                HasSubstr("'hyperparameter_tuning_job.study_spec.algorithm'"))
        << number;
  }
  EXPECT_THAT(ParseTuningJob(Json::array()).error().message, HasSubstr("HyperparameterTuningJob"));
}

TEST(TuningJobJson, IsStoredAsItWasSent) {
  const TuningJob job = ParsedStudy(AStudyJob());
  const Json stored = ToStoredJson(job);
  EXPECT_EQ(stored["studySpec"]["parameters"][1]["integerValueSpec"],
            (Json{{"minValue", "8"}, {"maxValue", "64"}}));
  const auto again = TuningJobFromStoredJson(stored);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(ToStoredJson(*again), stored);
}

TEST(TuningSpec, HasTheParametersOfTheStudy) {
  const run::TuningSpec spec = TuningSpecOf(ParsedStudy(AStudyJob()));
  const std::vector<tuning::Parameter>& parameters = spec.study.space.parameters();
  ASSERT_THAT(parameters, SizeIs(5));
  EXPECT_EQ(parameters[0].type, tuning::ValueType::kDouble);
  EXPECT_EQ(parameters[0].scale, tuning::Scale::kLog);
  EXPECT_EQ(parameters[0].least, 0.1);
  EXPECT_EQ(parameters[0].most, 1);
  EXPECT_EQ(parameters[1].type, tuning::ValueType::kInteger);
  EXPECT_EQ(parameters[1].least_integer, 8);
  EXPECT_EQ(parameters[1].most_integer, 64);
  EXPECT_THAT(parameters[2].numbers, ElementsAre(16, 32, 64));
  EXPECT_THAT(parameters[3].categories, ElementsAre("sgd", "adam"));
  EXPECT_EQ(parameters[4].name, "momentum");
  EXPECT_EQ(parameters[4].parent, 3u);
  EXPECT_THAT(parameters[4].parent_values, ElementsAre(tuning::Value("sgd")));
  EXPECT_EQ(spec.study.goals, std::vector{tuning::Goal::kMaximize});
  EXPECT_EQ(spec.metric_tag, "accuracy");
}

TEST(TuningSpec, FollowsTheAlgorithmAndTheRulesOfTheStudy) {
  Json body = AStudyJob();
  run::TuningSpec spec = TuningSpecOf(ParsedStudy(body));
  EXPECT_EQ(spec.study.algorithm, tuning::Algorithm::kRandom);
  EXPECT_EQ(spec.final_report, run::FinalReport::kLast);
  EXPECT_FALSE(spec.stops_early);
  EXPECT_EQ(spec.failure_rule.first_failures, 1);
  EXPECT_EQ(spec.failure_rule.majority_of, 4);
  body["studySpec"].erase("algorithm");
  body["studySpec"]["measurementSelectionType"] = "BEST_MEASUREMENT";
  body["studySpec"]["medianAutomatedStoppingSpec"] = Json::object();
  body["studySpec"]["metrics"][0]["goal"] = "MINIMIZE";
  body["maxFailedTrialCount"] = 2;
  spec = TuningSpecOf(ParsedStudy(body));
  EXPECT_EQ(spec.study.algorithm, tuning::Algorithm::kBayesian);
  EXPECT_EQ(spec.final_report, run::FinalReport::kBest);
  EXPECT_TRUE(spec.stops_early);
  EXPECT_EQ(spec.max_failed, 2);
  EXPECT_EQ(spec.study.goals, std::vector{tuning::Goal::kMinimize});
  EXPECT_EQ(TuningSpecOf(ParsedStudy(AGridStudyJob())).study.algorithm, tuning::Algorithm::kGrid);
}

TEST(TuningSpec, RunsTheTrialJobSpec) {
  Json body = AStudyJob();
  body["trialJobSpec"]["scheduling"] = {{"timeout", "60s"}, {"strategy", "SPOT"}};
  const run::RunSpec spec = ToRunSpec(ParsedStudy(body), "us-central1", DefaultCatalog());
  EXPECT_EQ(spec.groups.at(0).role, "workerpool0");
  EXPECT_EQ(spec.policy.job_restarts_after_loss_max, 6);
  EXPECT_EQ(spec.limits.max_running, std::chrono::seconds(60));
  ASSERT_TRUE(spec.tuning);
  EXPECT_EQ(spec.tuning->max_trials, 3);
  EXPECT_EQ(spec.tuning->max_parallel, 1);
}

TEST(TrialArguments, AreTwoWordsForEachValueInTheOrderOfTheStudy) {
  const tuning::Space space = TuningSpecOf(ParsedStudy(AStudyJob())).study.space;
  EXPECT_THAT(TrialArguments(space, {{"momentum", "0.9"}, {"rate", "0.1"}, {"optimizer", "sgd"}}),
              ElementsAre("--rate", "0.1", "--optimizer", "sgd", "--momentum", "0.9"));
  EXPECT_THAT(TrialArguments(space, {}), IsEmpty());
}

}  // namespace
}  // namespace caip::vertex
