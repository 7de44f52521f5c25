// The printers of gcloud 528 printed tests/golden/cli/formats/printed.txt for jobs.json in the same
// folder; "list" has the columns of `jobs list`, which gcloud passes to the printer.
#include "emulator/cli/print/resource_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "base/files.h"
#include "base/json.h"
#include "emulator/cli/print/format_expression.h"
#include "places.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ResourceText : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC-1", 1);
    ::tzset();
  }
  void TearDown() override {
    ::unsetenv("TZ");
    ::tzset();
  }

  static std::string Golden(const std::string& name) {
    const auto text =
        ReadFileUpTo(Path(CAIP_SOURCE_DIR) / "tests/golden/cli/formats" / name, 1 << 20);
    EXPECT_TRUE(text.ok()) << name;
    return text.ok() ? *text : "";
  }

  static std::string One(const std::string& format, const Json& resource) {
    const Result<std::string> text = FormatResource(resource, format);
    return text.ok() ? *text : "ERROR: " + text.error().message;
  }
};

TEST_F(ResourceText, IsWhatGcloudPrints) {
  const Json jobs = *ParseJson(Golden("jobs.json"));
  const std::string printed = Golden("printed.txt");
  int formats = 0;
  for (size_t at = 0; at < printed.size(); ++formats) {
    const size_t line_end = printed.find('\n', at);
    const size_t next = std::min(printed.find("\n### ", at), printed.size() - 1) + 1;
    const std::string title = printed.substr(at + 4, line_end - at - 4);
    const std::string wanted = printed.substr(line_end + 1, next - line_end - 1);
    const bool list = title.starts_with("list ");
    const std::string format = title.substr(title.find(' ') + 1);
    const auto text = list ? FormatResources(jobs, format) : FormatResource(jobs[0], format);
    EXPECT_EQ(text.ok() ? *text : text.error().message, wanted) << title;
    at = next;
  }
  EXPECT_GT(formats, 100);
}

TEST_F(ResourceText, TheTableOfJobsNeedsNoKeys) {
  const Json jobs = *ParseJson(R"([
      {"jobId": "j1", "state": "SUCCEEDED", "createTime": "2026-11-21T05:00:00Z"},
      {"jobId": "another_job", "state": "RUNNING", "createTime": "2026-11-21T05:00:00Z"}])");
  EXPECT_EQ(*FormatResources(jobs, "table"),
            "JOB_ID       STATUS     CREATED\n"
            "j1           SUCCEEDED  2026-11-21T06:00:00\n"
            "another_job  RUNNING    2026-11-21T06:00:00\n");
  EXPECT_EQ(One("table", jobs[1]),
            "JOB_ID       STATUS   CREATED\n"
            "another_job  RUNNING  2026-11-21T06:00:00\n");
  EXPECT_EQ(*FormatResources(jobs, "table[title=T](jobId)", 1),
            "  T\nJOB_ID\nj1\n\nJOB_ID\nanother_job\n");
  EXPECT_EQ(*FormatResources(jobs, "value(jobId)", 1), "j1\nanother_job\n");
  EXPECT_EQ(*FormatResources(Json::array(), "table"), "");
  EXPECT_EQ(*FormatResources(Json::array(), "json"), "[]\n");
  EXPECT_EQ(*FormatResources(Json::array(), "csv(jobId)"), "");
}

// The service's JSON has 1 where the field is a double; gcloud's messages make it 1.0.
TEST_F(ResourceText, DoublesOfTheApiAreDoubles) {
  const Json job = *ParseJson(R"({
      "labels": {"maxValue": "1"}, "trainingInput": {"hyperparameters": {"maxTrials": 2, "params": [
          {"maxValue": 1, "minValue": 0, "discreteValues": [1, 2.5]}]}},
      "trainingOutput": {"consumedMLUnits": 3,
                         "trials": [{"finalMetric": {"objectiveValue": 1}}]}})");
  EXPECT_EQ(One("yaml", job),
            "labels:\n  maxValue: '1'\n"
            "trainingInput:\n  hyperparameters:\n    maxTrials: 2\n    params:\n"
            "    - discreteValues:\n      - 1.0\n      - 2.5\n      maxValue: 1.0\n"
            "      minValue: 0.0\n"
            "trainingOutput:\n  consumedMLUnits: 3.0\n  trials:\n"
            "  - finalMetric:\n      objectiveValue: 1.0\n");
  EXPECT_THAT(One("json", job), HasSubstr("\"maxValue\": 1.0,\n"));
  EXPECT_EQ(One("value(trainingInput.hyperparameters.params[0].minValue)", job), "0.0\n");
  EXPECT_EQ(One("json", Json(1e15)), "1000000000000000.0\n");
}

TEST(FormatExpression, RefusesWhatItDoesNotKnowAndNamesWhatDoesTheSame) {
  const std::pair<const char*, const char*> rows[] = {
      {"bogus", "received [bogus]"},
      {"config", "Nearest to it is flattened."},
      {"JSON", "Nearest to it is json."},
      {"flatened", "Nearest to it is flattened."},
      {"value", "requires a non-empty projection"},
      {"csv()", "requires a non-empty projection"},
      {"value(", "key name expected [value( *HERE* ]"},
      {"value(jobId", "Expected ) in projection expression [value(jobId *HERE* ]"},
      {"value( jobId,)", "key name expected"},
      {"value(jobId)junk", "expected [value(jobId) *HERE* junk]"},
      {"value(a[1)", "] expected"},
      {"value('a)", "Unterminated quote"},
      {"value(jobId.bogus())", "Transform [bogus] is not supported"},
      {"value(jobId.basenam())", "Nearest to it is basename()."},
      {"value(jobId.basename(1,2,3))", "basename() takes at most undefined"},
      {"value(jobId.basename(bogus=1))", "basename() takes at most undefined"},
      {"value(yes.yesno(A,yes=B))", "yesno() takes at most yes, no, each once"},
      {"value(jobId.segment(x))", "segment() has index=x. It must be an integer"},
      {"value(createTime.date(tz=US/Pacific))", "It must be LOCAL or UTC"},
      {"value(jobId.map(2).upper())", "map() takes nothing"},
      {"value(jobId.upper().x)", "A transform expected"},
      {"value(jobId:width=3)", "Key attribute [width=3] is not supported"},
      {"value(jobId:sort=1)", "Key attribute [sort=1] is not supported"},
      {"table[all-box](jobId)", "table has no attribute [all-box]"},
      {"json[title=x]", "json has no attribute [title]"},
  };
  for (const auto& [format, complaint] : rows) {
    const auto parsed = ParseFormat(format);
    ASSERT_FALSE(parsed.ok()) << format;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument) << format;
    EXPECT_THAT(parsed.error().message, HasSubstr("argument --format: ")) << format;
    EXPECT_THAT(parsed.error().message, HasSubstr(complaint)) << format;
  }
}

TEST(FormatExpression, NamesEveryFormatOnce) {
  EXPECT_THAT(FormatNames(), ElementsAre("csv", "default", "disable", "flattened", "get", "json",
                                         "list", "none", "table", "text", "value", "yaml"));
  EXPECT_EQ(PathText(ParseFormat("value(a.b[0].c[].d)")->keys[0].path), "a.b[0].c[].d");
}

}  // namespace
}  // namespace caip::cli
