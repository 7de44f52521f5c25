#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/filter_comparison.h"
#include "base/time_text.h"

namespace caip {
namespace {

struct Row {
  const char* text;
  const char* first;
  const char* end;
};

class PeriodTest : public testing::TestWithParam<Row> {};

TEST_P(PeriodTest, IsAsLongAsItsTextSays) {
  const auto period = ParsePeriod(GetParam().text, std::chrono::seconds(1));
  ASSERT_TRUE(period.has_value()) << GetParam().text;
  EXPECT_EQ(Rfc3339(period->first, 0), GetParam().first);
  EXPECT_EQ(Rfc3339(period->end, 0), GetParam().end);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, PeriodTest,
    testing::Values(Row{"2020", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"},
                    Row{"2020-02", "2020-02-01T00:00:00Z", "2020-03-01T00:00:00Z"},
                    Row{"2019-12", "2019-12-01T00:00:00Z", "2020-01-01T00:00:00Z"},
                    Row{"2020-02-28", "2020-02-28T00:00:00Z", "2020-02-29T00:00:00Z"},
                    Row{"2020-02-29T23", "2020-02-29T23:00:00Z", "2020-03-01T00:00:00Z"},
                    Row{"2020-02-29T23:59", "2020-02-29T23:59:00Z", "2020-03-01T00:00:00Z"},
                    Row{"2020-02-29T12:30:05", "2020-02-29T12:30:05Z", "2020-02-29T12:30:06Z"},
                    Row{"2020-02-29T12:30Z", "2020-02-29T12:30:00Z", "2020-02-29T12:31:00Z"},
                    Row{"2020-02-29T12:30+01:00", "2020-02-29T11:30:00Z", "2020-02-29T11:31:00Z"},
                    Row{"2020-02-29T12Z", "2020-02-29T12:00:00Z", "2020-02-29T13:00:00Z"},
                    Row{"2261", "2261-01-01T00:00:00Z", "2262-01-01T00:00:00Z"},
                    Row{"2020-02-29T12:30:05+01:00", "2020-02-29T11:30:05Z",
                        "2020-02-29T11:30:06Z"}));

TEST(PeriodTextTest, TimesThatAnInstantCannotHoldAreBeforeOrAfterAllOthers) {
  for (const char* text : {"2990-01-15T19:00", "2990", "9999-12-31T23:59:59Z", "2262-01-01",
                           "2400-02-29", "9999-12-31T23:59:59.999999999-23:59"}) {
    const auto period = ParsePeriod(text, Duration(1));
    ASSERT_TRUE(period.has_value()) << text;
    EXPECT_EQ(period->end, Instant::max()) << text;
    EXPECT_LT(period->first, period->end) << text;
  }
  for (const char* text : {"0001-01-01T00:00:00Z", "1677", "1677-12-31T23:59"}) {
    const auto period = ParsePeriod(text, Duration(1));
    ASSERT_TRUE(period.has_value()) << text;
    EXPECT_EQ(period->first, Instant::min()) << text;
    EXPECT_LT(period->first, period->end) << text;
  }
}

TEST(PeriodTextTest, OthersAreNone) {
  for (const char* text : {"",
                           "20",
                           "20x0",
                           "2020-13",
                           "2020-02-30",
                           "2020-02-29T24",
                           "2020-2",
                           "2020-02-29T12:60",
                           "yesterday",
                           "2020-02-29_12:30:05",
                           "2020Z",
                           "2020-02-29Z",
                           "2020-02-29T12:30ZZ",
                           "2020-02-29T12:60Z",
                           "2020-02-29T12:30+1",
                           "2020-02-29_12:30Z",
                           "2990-02-29",
                           "2990-13",
                           "0000x",
                           "29900"}) {
    EXPECT_FALSE(ParsePeriod(text, Duration(1)).has_value()) << text;
  }
}

}  // namespace
}  // namespace caip
