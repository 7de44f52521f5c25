// The trials of a tuning job by themselves: what is planned, begun, reported and over.

#include "engine/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ml/to_run_spec.h"
#include "tests/support/a_tuning_job.h"

namespace caip::engine {
namespace {

using run::JobState;
using run::StudyStep;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Study AStudyOf(const ml::Job& job) {
  return Study(*ml::ToRunSpec(*job.training_input, {}).tuning, 1, {});
}

ValuesChosen Answered(const ChooseValues& choice) {
  return {choice.trial, choice.known->Suggestion(std::stoll(choice.trial))};
}

run::Job In(JobState state) {
  run::Job job;
  job.state = state;
  return job;
}

std::vector<Report> Reports(int64_t step) { return {Report{step, 0.5, 1.0, false}}; }

TEST(Study, AsksForOneTrialAfterTheOther) {
  Study study = AStudyOf(ATuningJob("j", 5, 3));
  EXPECT_FALSE(study.NextChoice());
  while (study.Next() == StudyStep::kBeginTrial) study.Plan();
  const auto first = study.NextChoice();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->trial, "1");
  EXPECT_FALSE(study.NextChoice());  // it was asked
  EXPECT_THAT(study.Live(), IsEmpty());
  EXPECT_TRUE(study.Begin(Answered(*first)));
  EXPECT_THAT(study.Live(), SizeIs(1));
  const auto second = study.NextChoice();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->trial, "2");
  EXPECT_TRUE(second->known->trials().contains(1));  // so that they differ
  EXPECT_EQ(study.Next(), StudyStep::kWait);
  study.DropPlans();
  EXPECT_FALSE(study.NextChoice());
  EXPECT_EQ(study.progress().begun, 1);
}

TEST(Study, APlannedTrialLearnsOfWhatWasKnownThenAndNotLater) {
  Study study = AStudyOf(ATuningJob("j", 5, 2));
  study.Plan();
  study.Begin(Answered(*study.NextChoice()));
  study.Plan();
  study.TakeIn("1", Reports(1));
  study.Move("1", In(JobState::kSucceeded), false);
  study.Plan();
  const auto second = study.NextChoice();
  EXPECT_FALSE(second->known->trials().at(1).outcome);
  study.Begin(Answered(*second));
  const auto third = study.NextChoice();
  ASSERT_TRUE(third->known->trials().at(1).outcome);
  EXPECT_THAT(third->known->trials().at(1).outcome->objectives, ::testing::ElementsAre(0.5));
}

TEST(Study, ThoseThatArePlannedShareWhatTheyKnow) {
  Study study = AStudyOf(ATuningJob("j", 5000, 5000));
  while (study.Next() == StudyStep::kBeginTrial) study.Plan();
  const auto first = study.NextChoice();
  study.Begin(Answered(*first));
  EXPECT_EQ(study.NextChoice()->known, first->known);  // and not a copy for each
}

TEST(Study, TheMetricFileCountsAndEventFilesOnlyWithoutIt) {
  const Report of_file{5, 0.5, 1, false};
  const Report of_summary{9, 0.9, 2, true};
  EXPECT_THAT(ReportsThatCount({of_summary, of_file}), SizeIs(1));
  EXPECT_EQ(FinalMetric({of_file, of_summary}), std::pair(int64_t{5}, 0.5));
  EXPECT_EQ(FinalMetric({of_summary}), std::pair(int64_t{9}, 0.9));
}

TEST(Study, TheBestReportIsTheEarliestOfEqualOnes) {
  const std::vector<Report> reports = {
      {1, std::nan(""), 1}, {2, 0.5, 2}, {3, 0.9, 3}, {4, 0.9, 4}, {5, 0.1, 5}};
  EXPECT_EQ(BestMetric(reports, tuning::Goal::kMaximize), std::pair(int64_t{3}, 0.9));
  EXPECT_EQ(BestMetric(reports, tuning::Goal::kMinimize), std::pair(int64_t{5}, 0.1));
  EXPECT_FALSE(BestMetric({}, tuning::Goal::kMinimize));
  const auto only = BestMetric({{7, std::nan(""), 1}}, tuning::Goal::kMaximize);
  ASSERT_TRUE(only);
  EXPECT_EQ(only->first, 7);
}

TEST(Study, ItsSpecChoosesTheFinalReport) {
  run::TuningSpec spec = *ml::ToRunSpec(*ATuningJob("j", 2).training_input, {}).tuning;
  spec.final_report = run::FinalReport::kBest;
  Study study(spec, 1, {});
  study.Plan();
  study.Begin(Answered(*study.NextChoice()));
  study.TakeIn("1", {{1, 0.9, 1}, {2, 0.5, 2}});
  study.Move("1", In(JobState::kSucceeded), false);
  EXPECT_EQ(study.Summary().trials[0].final_metric, std::pair(int64_t{1}, 0.9));
  study.Plan();
  const auto second = study.NextChoice();
  EXPECT_THAT(second->known->trials().at(1).outcome->objectives, ::testing::ElementsAre(0.9))
      << "the optimizer learns of it";
}

TEST(Study, IsExhaustedWhereThereAreNoValuesLeft) {
  Study study = AStudyOf(AGridJob("j", 9, 9));
  while (study.Next() == StudyStep::kBeginTrial) study.Plan();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(study.Begin(Answered(*study.NextChoice())));
  EXPECT_FALSE(study.Begin(Answered(*study.NextChoice())));
  EXPECT_EQ(study.Next(), StudyStep::kWait);
  EXPECT_FALSE(study.NextChoice());
  EXPECT_EQ(study.progress().begun, 3);
}

TEST(Study, TakesNoReportOfATrialThatHasEndedOrIsNone) {
  Study study = AStudyOf(ATuningJob("j", 2));
  study.Plan();
  EXPECT_THAT(study.TakeIn("1", Reports(1)), IsEmpty());  // it is planned only
  study.Begin(Answered(*study.NextChoice()));
  EXPECT_THAT(study.TakeIn("1", Reports(1)), SizeIs(1));
  EXPECT_THAT(study.TakeIn("1", Reports(1)), IsEmpty());
  EXPECT_THAT(study.TakeIn("2", Reports(1)), IsEmpty());
  study.Move("1", In(JobState::kSucceeded), false);
  EXPECT_THAT(study.TakeIn("1", Reports(2)), IsEmpty());
  EXPECT_EQ(study.Summary().trials[0].final_metric, std::pair(int64_t{1}, 0.5));
}

}  // namespace
}  // namespace caip::engine
