// docs/service/vertex.md, section 2: the filter of a list.

#include "vertex/filter/custom_job_filter.h"

#include "base/time_text.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/document.h"

namespace caip::vertex {
namespace {

using ::testing::HasSubstr;

run::Job AListedJob() {
  Json body = AContainerJob();
  body["labels"] = {{"team", "vision"}, {"phase-1", ""}};
  run::Job job;
  job.key = {"demo", "4711", "", "us-central1"};
  job.state = run::JobState::kFailed;
  job.create_time = ParseRfc3339("2026-01-02T03:04:05.123456789Z");
  job.document = ToDocument(Parsed(body), "us-central1");
  return job;
}

TEST(CustomJobFilter, MatchesNamesStatesTimesAndLabels) {
  struct Row {
    const char* filter;
    bool matches;
  };
  const Row rows[] = {
      {"", true},
      {"display_name=census", true},
      {"displayName=\"census\"", true},
      {"display_name=cens", false},
      {"display_name!=census", false},
      {"display_name:cens*", true},
      {"display_name:ens", true},
      {"state=JOB_STATE_FAILED", true},
      {"state=\"JOB_STATE_FAILED\"", true},
      {"state!=JOB_STATE_FAILED", false},
      {"state=JOB_STATE_RUNNING OR state=JOB_STATE_FAILED", true},
      {"NOT state=JOB_STATE_RUNNING", true},
      {"create_time>\"2026-01-02T03:04:05Z\"", true},
      {"create_time<2026-01-02T03:04:05.123456Z", false},
      {"create_time>2026-01-02T03:04:05.123456Z", false},
      {"create_time=2026-01", true},
      {"create_time>=2027", false},
      {"create_time<=2026-01-02", true},
      {"create_time<=2026-01-01", false},
      {"create_time<=2026-01-02T03:04:05.123456Z", true},
      {"create_time<=2026-01-02T03:04:05.123455Z", false},
      {"labels.team=vision", true},
      {"labels.team:*", true},
      {"labels.phase-1:*", true},
      {"labels.mode:*", false},
      {"labels.mode=\"\"", false},
      {"labels.mode:\"\"", false},
      {"labels.mode!=x", true},
      {"labels.team=vision AND NOT display_name=census", false},
      {"(display_name=census OR labels.team=x) AND state=JOB_STATE_FAILED", true},
  };
  const run::Job job = AListedJob();
  for (const Row& row : rows) {
    const auto filter = CustomJobFilter::Parse(row.filter);
    ASSERT_TRUE(filter.ok()) << row.filter << ": " << filter.error().message;
    EXPECT_EQ(filter->Matches(job, false), row.matches) << row.filter;
  }
}

TEST(CustomJobFilter, SeesTheStateThatTheClientSees) {
  run::Job job = AListedJob();
  job.state = run::JobState::kQueued;
  const auto pending = CustomJobFilter::Parse("state=JOB_STATE_PENDING");
  ASSERT_TRUE(pending.ok());
  EXPECT_TRUE(pending->Matches(job, false));
  EXPECT_FALSE(pending->Matches(job, true));
}

TEST(CustomJobFilter, SeesATuningJobAndAPipelineByTheirOwnNames) {
  run::Job job = AListedJob();
  job.document = ToDocument(ParsedStudy(AStudyJob()), "us-central1");
  const auto study = CustomJobFilter::Parse("display_name=study", ListedAs::kTuningJob);
  ASSERT_TRUE(study.ok());
  EXPECT_TRUE(study->Matches(job, false));
  const Json pipeline = {{"display_name", "mine"}, {"training_task_definition", "custom"}};
  job.document = ToDocument(Parsed(AContainerJob()), "us-central1", StoredPipeline{"1", pipeline});
  const auto mine = CustomJobFilter::Parse("display_name=mine AND training_task_definition=custom",
                                           ListedAs::kTrainingPipeline);
  ASSERT_TRUE(mine.ok());
  EXPECT_TRUE(mine->Matches(job, false));
  EXPECT_FALSE(study->Matches(job, false));
}

// Each text has the empty text, and each set of labels may have an empty key.
TEST(CustomJobFilter, TakesAnEmptyTextInQuotes) {
  const run::Job job = AListedJob();
  for (const char* text : {"display_name:\"\"", "display_name != \"\"", "NOT labels:\"\""}) {
    const auto filter = CustomJobFilter::Parse(text);
    ASSERT_TRUE(filter.ok()) << text << ": " << filter.error().message;
    const CustomJobFilter copy = *filter;
    EXPECT_TRUE(copy.Matches(job, false)) << text;
  }
  EXPECT_FALSE(CustomJobFilter::Parse("state:\"\"").ok());
}

TEST(CustomJobFilter, SaysWhereItIsBroken) {
  struct Row {
    const char* filter;
    const char* told;
  };
  const Row rows[] = {
      {"name=x",
       "is broken at character 1: there is no field 'name'. Use display_name, state, "
       "create_time or labels.KEY."},
      {"state>JOB_STATE_FAILED", "the field 'state' can be compared only with: = !="},
      {"display_name<a", "the field 'display_name' can be compared only with: : = !="},
      {"state=FAILED", "'FAILED' is not one of JOB_STATE_UNSPECIFIED, JOB_STATE_QUEUED, "},
      {"create_time>noon", "'noon' is not a time"},
      {"state", "is broken at character 6: an operator is expected"},
      {"(state=JOB_STATE_FAILED", "a closing parenthesis is expected"},
      {"job_spec.network=x", "there is no field 'job_spec.network'"},
  };
  for (const Row& row : rows) {
    const auto filter = CustomJobFilter::Parse(row.filter);
    ASSERT_FALSE(filter.ok()) << row.filter;
    EXPECT_EQ(filter.error().code, Code::kInvalidArgument);
    EXPECT_THAT(filter.error().message, HasSubstr("List of found errors:\t1.Field: filter; "));
    EXPECT_THAT(filter.error().message, HasSubstr(row.told));
  }
}

}  // namespace
}  // namespace caip::vertex
