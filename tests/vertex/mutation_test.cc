// Bodies that nobody thought of: valid ones, changed at random. Whatever comes, there is an answer
// with fields, and what is accepted runs, is stored, and is shown.

#include "base/random.h"
#include "harness/simulation/fake_resources.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/render.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/trials.h"

namespace caip::vertex {
namespace {

constexpr char kNewId[] = "8501620632646057984";

// Values that are awkward somewhere.
Json AwkwardValue(Random& random) {
  static const Json kValues[] = {
      nullptr,
      true,
      -1,
      0,
      2,
      1.5,
      INT64_MIN,
      UINT64_MAX,
      1e308,
      "",
      "SPOT",
      "cloud-tpu",
      "$(CLOUD_ML_JOB_ID)$$(A)",
      "gs://bkt/a",
      std::string("a\0b\n\xf0\x9f\x98\x80", 8),
      Json::array(),
      Json::array({1, "x", nullptr}),
      Json::object(),
      Json{{"machineType", "n1-standard-4"}, {"acceleratorType", 5}, {"imageUri", "i"}},
      Json{{"values", Json::array({1, 2})}},
      Json{{"minValue", 1}, {"maxValue", "NaN"}}};
  return kValues[random.Below(std::size(kValues))];
}

// All values of a tree that could be changed.
void CollectValues(Json& value, std::vector<Json*>& found) {
  found.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& below : value) CollectValues(below, found);
}

void Mutate(Json& body, Random& random) {
  std::vector<Json*> values;
  CollectValues(body, values);
  Json& value = *values[1 + random.Below(values.size() - 1)];
  if (value.is_object() && random.Below(3) == 0) {
    const char* names[] = {"replicaCount", "machineSpec", "bogus",    "env",
                           "scheduling",   "strategy",    "diskSpec", "nfsMounts"};
    value[names[random.Below(std::size(names))]] = AwkwardValue(random);
  } else if (value.is_array() && random.Below(2) == 0) {
    value.push_back(AwkwardValue(random));
  } else {
    value = AwkwardValue(random);
  }
}

Json APipelineOf(const Json& job) {
  return {{"displayName", "p"},
          {"trainingTaskDefinition", "gs://x/custom_task_1.0.0.yaml"},
          {"trainingTaskInputs", job["jobSpec"]}};
}

Json ATuningPipelineOf(Json job) {
  for (const char* own : {"displayName", "labels"}) job.erase(own);
  return {{"displayName", "p"},
          {"trainingTaskDefinition", "gs://x/hyperparameter_tuning_task_1.0.0.yaml"},
          {"trainingTaskInputs", std::move(job)}};
}

// The accepted job has replicas, each with an environment, and can be stored and shown.
void ExpectRuns(const TrainingApi& api, const run::AcceptedJob& accepted) {
  ASSERT_FALSE(accepted.job->spec().groups.empty());
  const auto opened = api.Open(accepted.document);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::vector<run::PlannedReplica> plan = run::PlanReplicas((*opened)->spec());
  if (plan.size() > 20) return;
  run::RunFacts facts;
  facts.key = accepted.key;
  if ((*opened)->spec().tuning) facts.key.trial = "1";
  facts.plan = plan;
  const auto run = (*opened)->Begin(facts);
  for (const run::PlannedReplica& replica : plan) {
    EXPECT_FALSE(run->SetUp({replica.id, "/disk", "/bin"}).environment.empty());
    run->Lines(run::LoggedReplicaEvent::kBeforePackages, {.replica = replica.id});
  }
  run::Job job;
  job.key = accepted.key;
  job.document = accepted.document;
  const bool is_tuning = IsTuningJob(job.document);
  EXPECT_TRUE((is_tuning ? RenderTuningJob : RenderCustomJob)(job, {.enum_numbers = true}).ok());
  if (!is_tuning) return;
  const run::Trial trial{.id = "1", .values = {{"layers", "3"}, {"rate", "0.5"}}};
  job.document = WithTrials(job.document, {trial});
  const auto trials = TrialsAsJobs(job);
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  EXPECT_TRUE(RenderCustomJob(trials->at(0), {}).ok());
}

struct Answers {
  int refused_by_form = 0;
  int refused_by_rule = 0;
  int accepted = 0;
};

void Count(const Result<run::AcceptedJob>& answer, Answers& answers) {
  if (answer.ok()) {
    ++answers.accepted;
  } else if (answer.error().message.starts_with("Invalid JSON payload") ||
             answer.error().message.starts_with("Invalid value at")) {
    ++answers.refused_by_form;
  } else {
    ++answers.refused_by_rule;
  }
}

TEST(Mutation, EveryBodyHasAnAnswerWithFields) {
  harness::FakeStorage storage;
  const TrainingApi api({.project_number = "123"}, storage);
  const Json seeds[] = {AContainerJob(),
                        APackageJob(),
                        WithPools(AContainerJob(), {2, 1, 1}),
                        WithPools(APackageJob(), {0, 1}),
                        AStudyJob(),
                        AGridStudyJob()};
  Answers answers;
  constexpr int kBodies = 3000;
  for (int i = 0; i < kBodies; ++i) {
    Random random(static_cast<uint64_t>(i));
    Json body = seeds[random.Below(std::size(seeds))];
    const bool is_tuning = body.contains("studySpec");
    const bool is_pipeline = random.Below(3) == 0;
    body["labels"] = {{"team", "x"}};
    if (is_pipeline) body = is_tuning ? ATuningPipelineOf(body) : APipelineOf(body);
    const uint64_t changes = 1 + random.Below(4);
    for (uint64_t change = 0; change < changes; ++change) Mutate(body, random);
    SCOPED_TRACE("seed " + std::to_string(i) + ": " + CompactJson(body));
    run::JobRequest request{"p", "us-central1", body, {}, {}};
    request.new_id = kNewId;
    request.collection = is_pipeline ? kTrainingPipelines : is_tuning ? kTuningJobs : kCustomJobs;
    const auto answer = api.Accept(request);
    Count(answer, answers);
    if (answer.ok()) {
      ExpectRuns(api, *answer);
    } else {
      EXPECT_FALSE(answer.error().message.empty());
      for (const FieldViolation& violation : answer.error().violations) {
        EXPECT_FALSE(violation.description.empty());
      }
    }
    if (HasFailure()) return;
  }
  // All three answers occur, or the mutations are too tame or too wild to test anything.
  EXPECT_GT(answers.refused_by_form, kBodies / 10);
  EXPECT_GT(answers.refused_by_rule, kBodies / 25);
  EXPECT_GT(answers.accepted, kBodies / 100);
}

}  // namespace
}  // namespace caip::vertex
