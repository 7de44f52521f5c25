// The engine on its own thread, with clocks and callers as they are in earnest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ml/render.h"
#include "tests/engine/engine_service.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<ml::Job> UpdateLabels(Engine& engine, const std::string& id,
                             std::map<std::string, std::string> labels,
                             std::optional<std::string> etag = {}) {
  const auto updated = engine.Update(
      "p", id, [=](const run::Job& job) { return ml::WithLabels(job, labels, etag); });
  if (!updated.ok()) return updated.error();
  return ml::RenderJob(*updated);
}

TEST(EngineThread, TakesJobsWhileTheValuesOfATrialAreChosen) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(ATuningJob("study", 2))).ok());
  ASSERT_TRUE(service.executor.AwaitThought());
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("other"))).ok());
  ASSERT_TRUE(service.Await("other", JobState::kSucceeded));
  EXPECT_EQ(engine.Get("p", "study")->state, JobState::kPreparing);
  service.executor.LetThink();
  ASSERT_TRUE(service.Await("study", JobState::kSucceeded));
  EXPECT_EQ(ml::RenderJob(*engine.Get("p", "study"))->training_output->trials.size(), 2u);
}

TEST(EngineThread, StopsWhileTheValuesOfATrialAreChosen) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(ATuningJob("study", 2))).ok());
  ASSERT_TRUE(service.executor.AwaitThought());
  engine.Stop();
  service.executor.LetThink();  // a late answer finds nobody
  EXPECT_EQ(engine.Get("p", "study")->state, JobState::kPreparing);
  service.Start();
  EXPECT_TRUE(service.Await("study", JobState::kSucceeded));
}

TEST(EngineThread, LeapsOverAQueueOfTwentyMinutes) {
  EngineOptions options;
  options.rules.queue_delay = run::ConstantDelay{minutes(20)};
  Service service(options);
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  const auto before = SystemClock().Now();
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("j"))).ok());
  ASSERT_TRUE(service.Await("j", JobState::kSucceeded)) << "awaited SUCCEEDED";
  const auto job = engine.Get("p", "j");
  EXPECT_GE(*job->start_time - *job->create_time, minutes(20));
  EXPECT_LT(SystemClock().Now() - before, minutes(20));
}

TEST(EngineThread, ManyCallersAtOnceEachGetTheirAnswer) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  std::vector<std::thread> callers;
  std::atomic<int> taken{0};
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 10; ++i) {
        const std::string id = "j" + std::to_string(caller) + "_" + std::to_string(i);
        EXPECT_TRUE(engine.Submit("p", Sent(AJob(id))).ok());
        EXPECT_TRUE(UpdateLabels(engine, id, {{"i", std::to_string(i)}}).ok());
        EXPECT_TRUE(engine.Get("p", id).ok());
        EXPECT_TRUE(engine.Cancel("p", id).ok());
        const auto again = engine.Submit("p", Sent(AJob("shared_" + std::to_string(i))));
        EXPECT_EQ(again.ok() ? Code::kAlreadyExists : again.error().code, Code::kAlreadyExists);
        taken += again.ok();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(taken, 10) << "each id once";
  EXPECT_EQ(engine.List({.project = "p"})->size(), 90u);
}

TEST(EngineThread, StopKillsTheReplicasAndLeavesTheJobsToTheNextStart) {
  Service service;
  service.Start();
  ASSERT_TRUE(service.engine->Submit("p", Sent(AJob("j"))).ok());
  ASSERT_TRUE(service.Await("j", JobState::kRunning)) << "awaited RUNNING";
  EXPECT_EQ(service.launcher.live(), 4u);
  service.engine->Stop();
  EXPECT_EQ(service.launcher.live(), 0u);
  EXPECT_EQ(service.store.Get("p", "j")->job.state, JobState::kRunning);
  EXPECT_EQ(service.engine->Submit("p", Sent(AJob("late"))).error().code, Code::kUnavailable);
  EXPECT_EQ(service.engine->Cancel("p", "j").error().code, Code::kUnavailable);
  EXPECT_TRUE(service.engine->Get("p", "j").ok()) << "reading goes on";

  service.launcher.EndAtOnce();
  service.watch = {};
  service.devices.LoseAll();
  service.addresses.LoseAll();
  service.Start();
  ASSERT_TRUE(service.Await("j", JobState::kSucceeded)) << "awaited SUCCEEDED";
}

TEST(EngineThread, ChecksEverythingBeforeAJobIsCreated) {
  Service service;
  service.storage.read_only = {"locked"};
  Engine& engine = service.Start();
  ml::Job broken = AJob("9lives");
  broken.training_input->region = "mars-north1";
  const auto rules = engine.Submit("p", Sent(broken));
  EXPECT_EQ(rules.error().code, Code::kInvalidArgument);
  EXPECT_EQ(rules.error().violations.size(), 2u) << "all at once";

  ml::Job no_bucket = AJob("j");
  no_bucket.training_input->job_dir = "gs://nobodys/out";
  EXPECT_THAT(engine.Submit("p", Sent(no_bucket)).error().message, HasSubstr("nobodys"));
  ml::Job locked = AJob("j");
  locked.training_input->job_dir = "gs://locked/out";
  service.storage.buckets.insert("locked");
  EXPECT_THAT(engine.Submit("p", Sent(locked)).error().message, HasSubstr("gs://locked/out"));

  ml::Job nothing_there = AJob("j");
  nothing_there.training_input->package_uris = {"gs://bucket/none.tar.gz"};
  nothing_there.training_input->job_dir = "gs://nobodys/out";
  const auto both = engine.Submit("p", Sent(nothing_there));
  EXPECT_EQ(both.error().violations.size(), 2u);
  EXPECT_EQ(both.error().violations[0].field, "package_uris");
  EXPECT_EQ(both.error().violations[1].field, "job_dir");
  EXPECT_TRUE(engine.List({.project = "p"})->empty());
}

TEST(EngineThread, AnImageThatTheLauncherCannotRunIsRefusedAtItsField) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = AJob("j", 0, 0);
  ml::TrainingInput& input = *job.training_input;
  input.package_uris.clear();
  input.python_module = input.runtime_version = input.python_version = "";
  input.master.config.emplace().image_uri = "gcr.io/p/unknown:1";
  const auto refused = engine.Submit("p", Sent(job));
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("no command for gcr.io/p/unknown:1"));
  EXPECT_EQ(refused.error().violations[0].field, "master_config.image_uri");
  input.master.config->image_uri = "gcr.io/p/known:1";
  input.worker.config.emplace().image_uri = "gcr.io/p/unknown:1";
  ASSERT_EQ(input.worker.count, 0);
  const auto idle = engine.Submit("p", Sent(job));
  ASSERT_FALSE(idle.ok()) << "the image of a role without replicas is checked, too";
  EXPECT_EQ(idle.error().violations[0].field, "worker_config.image_uri");
  input.worker.config.reset();
  EXPECT_TRUE(engine.Submit("p", Sent(job)).ok());
}

TEST(EngineThread, ATuningJobIsCheckedAndTaken) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = AJob("j");
  ml::HyperparameterSpec& tuning = job.training_input->hyperparameters.emplace();
  tuning.goal = "MAXIMIZE";
  ml::ParameterSpec& rate = tuning.params.emplace_back();
  rate.parameter_name = "rate";
  rate.type = "DOUBLE";
  rate.min_value = 0.1;
  rate.max_value = 1;
  EXPECT_TRUE(engine.Check("p", Sent(job)).ok()) << engine.Check("p", Sent(job)).error().message;
  EXPECT_TRUE(engine.Submit("p", Sent(job)).ok());
  rate.max_value.reset();
  EXPECT_EQ(engine.Submit("p", Sent(job)).error().code, Code::kInvalidArgument);
}

TEST(EngineThread, AStudyGoesOnFromAFinishedStudyThatAskedTheSame) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = AJob("j");
  ml::HyperparameterSpec& tuning = job.training_input->hyperparameters.emplace();
  tuning.goal = "MAXIMIZE";
  ml::ParameterSpec& rate = tuning.params.emplace_back();
  rate.parameter_name = "rate";
  rate.type = "DOUBLE";
  rate.min_value = 0.1;
  rate.max_value = 1;
  const auto why = [&](const std::string& earlier) {
    tuning.resume_previous_job_id = earlier;
    const auto checked = engine.Check("p", Sent(job));
    EXPECT_EQ(checked.error().code, Code::kInvalidArgument);
    std::string all;
    for (const FieldViolation& violation : checked.error().violations) {
      EXPECT_EQ(violation.field, "hyperparameters.resume_previous_job_id");
      all += violation.description;
    }
    return all;
  };
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("plain"))).ok());
  ASSERT_TRUE(engine.Submit("p", Sent(job)).ok());
  EXPECT_THAT(why("none"), HasSubstr("There is no job 'none'"));
  EXPECT_THAT(why("plain"), HasSubstr("has no hyperparameters"));
  EXPECT_THAT(why("j"), HasSubstr("has not ended"));
  rate.max_value = 2;
  tuning.goal = "MINIMIZE";
  tuning.hyperparameter_metric_tag = "loss";
  const std::string reasons = why("j");
  EXPECT_THAT(reasons, HasSubstr("differs in its params"));
  EXPECT_THAT(reasons, HasSubstr("differs in its goal"));
  EXPECT_THAT(reasons, HasSubstr("differs in its hyperparameterMetricTag"));
}

// docs/service/hyperparameter-tuning.md, section 8
TEST(EngineThread, AStudyGoesOnWhereTheParametersDifferOnlyInTheirSpelling) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = ATuningJob("j", 1);
  std::vector<ml::ParameterSpec>& params = job.training_input->hyperparameters->params;
  params = {{"rate", "DOUBLE", 0, 1, {}, {}, "NONE"},
            {"units", "DISCRETE", 7, 9, {1, 2}, {}, ""},
            {"kind", "CATEGORICAL", {}, {}, {}, {"a"}, "NONE"}};
  ASSERT_TRUE(engine.Submit("p", Sent(job)).ok());
  job.training_input->hyperparameters->resume_previous_job_id = "j";
  params = {{"rate", "DOUBLE", {}, 1, {}, {}, ""},
            {"units", "DISCRETE", {}, {}, {1, 2}, {}, ""},
            {"kind", "CATEGORICAL", {}, {}, {}, {"a"}, ""}};
  const auto why = [&] {
    const auto checked = engine.Check("p", Sent(job));
    std::string all;
    for (const FieldViolation& violation : checked.error().violations) {
      all += violation.description;
    }
    return all;
  };
  EXPECT_THAT(why(), AllOf(HasSubstr("has not ended"), Not(HasSubstr("params"))));
  params[0].min_value = 0.5;
  EXPECT_THAT(why(), HasSubstr("differs in its params"));
}

TEST(EngineThread, TellsAnEarlierStudyThatIsNotThereWithTheBrokenRules) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = ATuningJob("j", 0);  // no trial at all
  job.training_input->hyperparameters->resume_previous_job_id = "none";
  const auto checked = engine.Check("p", Sent(job));
  ASSERT_EQ(checked.error().violations.size(), 2u) << checked.error().message;
  EXPECT_EQ(checked.error().violations[0].field, "hyperparameters.max_trials");
  EXPECT_EQ(checked.error().violations[1].field, "hyperparameters.resume_previous_job_id");
  job.training_input->hyperparameters->resume_previous_job_id = "no id";
  EXPECT_EQ(engine.Check("p", Sent(job)).error().violations.size(), 2u);  // each reported once
}

TEST(UpdateLabels, ReplacesTheWholeMapAndChangesTheEtag) {
  Service service;
  Engine& engine = service.Start();
  ml::Job job = AJob("j");
  job.labels = {{"a", "1"}, {"b", "2"}};
  ASSERT_TRUE(engine.Submit("p", Sent(job)).ok());
  const auto created = ml::RenderJob(*engine.Get("p", "j"));
  ASSERT_TRUE(created.ok());
  const auto updated = UpdateLabels(engine, "j", {{"c", "3"}}, created->etag);
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(updated->labels, (std::map<std::string, std::string>{{"c", "3"}}));
  EXPECT_NE(updated->etag, created->etag);
  EXPECT_EQ(updated->etag.size(), 8u);
  EXPECT_EQ(ml::RenderJob(*engine.Get("p", "j"))->labels, updated->labels);
  EXPECT_EQ(UpdateLabels(engine, "j", {}, created->etag).error().code, Code::kAborted);
  EXPECT_TRUE(UpdateLabels(engine, "j", {}, {}).ok()) << "without an etag: unconditionally";
}

TEST(UpdateLabels, WorksInEveryState) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("j"))).ok());
  ASSERT_TRUE(service.Await("j", JobState::kSucceeded)) << "awaited SUCCEEDED";
  const auto updated = UpdateLabels(engine, "j", {{"done", "yes"}}, {});
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(ml::RenderJob(*engine.Get("p", "j"))->labels.at("done"), "yes");
  EXPECT_EQ(engine.Get("p", "j")->state, JobState::kSucceeded);
  EXPECT_EQ(UpdateLabels(engine, "none", {}, {}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace caip::engine
