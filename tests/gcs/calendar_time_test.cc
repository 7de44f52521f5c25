// Times of the years 1 to 9999, more than an Instant can hold.
#include "fakes/gcs/calendar_time.h"

#include <gtest/gtest.h>

#include "base/time_text.h"

namespace caip::gcs {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

TEST(CalendarTime, IsShownInUtcWithMicroseconds) {
  const std::pair<const char*, const char*> cases[] = {
      {"2024-05-05T02:00:00+02:00", "2024-05-05T00:00:00Z"},
      {"2024-05-05t01:02:03.5z", "2024-05-05T01:02:03.500Z"},
      {"2024-05-05T01:02:03.123999999Z", "2024-05-05T01:02:03.123999Z"},
      {"2024-05-05T01:02:03.000001Z", "2024-05-05T01:02:03.000001Z"},
      {"2024-05-05T01:02:03.120000000Z", "2024-05-05T01:02:03.120Z"},
      {"0001-01-01T00:00:00.625675Z", "0001-01-01T00:00:00.625675Z"},
      {"2024-12-31T23:30:00-01:00", "2025-01-01T00:30:00Z"},
      {"2262-04-12T00:00:00Z", "2262-04-12T00:00:00Z"},
      {"2400-02-29T00:00:00Z", "2400-02-29T00:00:00Z"},
      {"1600-02-29T12:00:00Z", "1600-02-29T12:00:00Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
      {"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999Z"},
  };
  for (const auto& [given, shown] : cases) EXPECT_EQ(NormalTimeText(given), shown);
}

TEST(CalendarTime, HasAYearFrom1To9999) {
  for (const char* bad :
       {"", "2024", "yesterday", "2024-05-05", "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-01:00", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
        "+001-01-01T00:00:00Z", "1900-02-29T00:00:00Z", "3000-02-29T00:00:00Z"}) {
    EXPECT_FALSE(ParseCalendarTime(bad)) << bad;
    EXPECT_EQ(NormalTimeText(bad), bad);
  }
}

TEST(CalendarTime, ReadsEveryDayThatItShows) {
  const sys_days end = std::chrono::January / 1 / 10'000;
  for (sys_days day = std::chrono::January / 1 / 1; day < end; day += days(1)) {
    ASSERT_EQ(ParseCalendarTime(CalendarText(day)), CalendarTime(day)) << CalendarText(day);
  }
}

TEST(CalendarTime, TheNearestInstantIsTheTimeOrTheEndOfInstants) {
  const char* exact = "2024-05-05T01:02:03.456Z";
  EXPECT_EQ(NearestInstant(*ParseCalendarTime(exact)), ParseRfc3339(exact));
  EXPECT_EQ(NearestInstant(*ParseCalendarTime("9999-12-31T00:00:00Z")), Instant::max());
  EXPECT_EQ(NearestInstant(*ParseCalendarTime("0001-01-01T00:00:00Z")), Instant::min());
}

}  // namespace
}  // namespace caip::gcs
