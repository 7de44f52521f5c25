#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/metrics/metric_sources.h"

namespace caip::host {
namespace {

using ::testing::IsEmpty;

struct Case {
  const char* what;
  const char* line;
  double value;
  int64_t step;
  double time;
};

TEST(MetricFile, ReadsWhatCloudmlHypertuneWrites) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {"as the library",
       R"({"accuracy": "0.91", "global_step": "1000", "timestamp": 1.5, "trial": "1"})", 0.91, 1000,
       1.5},
      {"the tag in another place",
       R"({"global_step": "7", "timestamp": 2, "trial": "1", "accuracy": "1"})", 1, 7, 2},
      {"numbers as numbers", R"({"accuracy": 0.5, "global_step": 3, "timestamp": 4})", 0.5, 3, 4},
      {"no step, no time", R"({"accuracy": "2"})", 2, 0, 0},
      {"an exponent", R"({"accuracy": "1e-05"})", 1e-5, 0, 0},
      {"infinity", R"({"accuracy": "inf"})", kInfinity, 0, 0},
      {"minus infinity", R"({"accuracy": "-inf"})", -kInfinity, 0, 0},
      {"too large for a double", R"({"accuracy": "1e999"})", kInfinity, 0, 0},
      {"too small for a double", R"({"accuracy": "1e-999"})", 0, 0, 0},
      {"blanks and a plus", R"({"accuracy": " +3 "})", 3, 0, 0},
      {"a negative step", R"({"accuracy": "3", "global_step": "-1"})", 3, -1, 0},
  };
  for (const Case& c : cases) {
    const auto reports = ReportsIn(std::string(c.line) + "\n", "accuracy");
    ASSERT_EQ(reports.size(), 1u) << c.what;
    EXPECT_EQ(reports[0].value, c.value) << c.what;
    EXPECT_EQ(reports[0].step, c.step) << c.what;
    EXPECT_EQ(reports[0].time, c.time) << c.what;
    EXPECT_FALSE(reports[0].summary);
  }
}

TEST(MetricFile, ReadsNaN) {
  const auto reports = ReportsIn("{\"accuracy\": \"nan\"}\n", "accuracy");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(std::isnan(reports[0].value));
}

TEST(MetricFile, ReadsTheBareNumbersOfPythonsJson) {
  const auto reports = ReportsIn(
      "{\"accuracy\": NaN, \"global_step\": 1}\n{\"accuracy\": Infinity}\n"
      "{\"accuracy\": -Infinity, \"a \\\" NaN\": 1}\n",
      "accuracy");
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_TRUE(std::isnan(reports[0].value));
  EXPECT_EQ(reports[0].step, 1);
  EXPECT_EQ(reports[1].value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(reports[2].value, -std::numeric_limits<double>::infinity());
}

TEST(MetricFile, NamesTheTagsThatNumbersAreReportedOf) {
  EXPECT_THAT(
      TagsIn("{\"acc\": \"0.5\", \"global_step\": \"1\", \"timestamp\": 1, \"trial\": \"1\"}\n"
             "{\"loss\": 1, \"note\": \"a text\"}\nno object\n{\"half\": 1"),
      ::testing::ElementsAre("acc", "loss"));
}

TEST(MetricFile, LeavesOutWhatIsNoReport) {
  for (const char* line : {
           "",
           "{",
           "[]",
           "7",
           "null",
           "text",
           "{\"accuracy\": \"high\"}",
           "{\"accuracy\": null}",
           "{\"accuracy\": {}}",
           "{\"loss\": \"1\"}",
           "{\"accuracy\": \"\"}",
           "{\"accuracy\": \"1 2\"}",
           "{\"accuracy\": \"1\", \"global_step\": \"1e300\"}",
           "{\"accuracy\": \"1\", \"timestamp\": \"nan\"}",
           "\xff\xfe{\"accuracy\": \"1\"}",
       }) {
    EXPECT_THAT(ReportsIn(std::string(line) + "\n", "accuracy"), IsEmpty()) << line;
  }
}

TEST(MetricFile, TheLastLineMayBeHalfWritten) {
  const std::string whole = "{\"accuracy\": \"0.1\"}\n{\"accuracy\": \"0.25\"}\n";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const auto ends = std::count(whole.begin(), whole.begin() + static_cast<long>(cut), '}');
    EXPECT_EQ(ReportsIn(whole.substr(0, cut), "accuracy").size(), static_cast<size_t>(ends));
  }
}

TEST(MetricFile, KeepsTheOrderAndWhatIsThereTwice) {
  const auto reports = ReportsIn(
      "{\"m\": \"2\", \"global_step\": \"9\"}\n{\"m\": \"1\", \"global_step\": \"9\"}\n", "m");
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].value, 2);
  EXPECT_EQ(reports[1].value, 1);
}

}  // namespace
}  // namespace caip::host
