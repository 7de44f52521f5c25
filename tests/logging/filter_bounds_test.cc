#include <gtest/gtest.h>

#include "base/time_text.h"
#include "fakes/logging/filter/bounds.h"

namespace caip::logging {
namespace {

EntryBounds Bounds(const std::string& text) {
  const auto filter = Filter::Parse(text);
  EXPECT_TRUE(filter.ok()) << filter.error().message;
  return EntryBounds::Of(*filter, "ml.googleapis.com");
}

const Instant kBoundsNoon = *ParseRfc3339("2022-02-09T12:00:00Z");

TEST(EntryBounds, AreThoseOfTheComparisonsThatMustHold) {
  const EntryBounds bounds = Bounds(
      "resource.labels.job_id=\"j\" resource.labels.task_name=t severity>=ERROR "
      "timestamp>=\"2022-02-09T12:00:00Z\" timestamp<\"2022-02-10\" insertId>\"0007\" "
      "labels.\"ml.googleapis.com/trial_id\"=2 logName=\"projects/p/logs/a%2Fb\"");
  EXPECT_EQ(bounds.job_id, "j");
  EXPECT_EQ(bounds.task, "t");
  EXPECT_EQ(bounds.trial, "2");
  EXPECT_EQ(bounds.log_id, "a/b");
  EXPECT_EQ(bounds.from, kBoundsNoon);
  EXPECT_EQ(bounds.until, kBoundsNoon + std::chrono::hours(12));
  EXPECT_EQ(bounds.after_insert_id, "0007");
  EXPECT_EQ(bounds.severities,
            SeverityBit(500) | SeverityBit(600) | SeverityBit(700) | SeverityBit(800));
  EXPECT_FALSE(bounds.none);
}

TEST(EntryBounds, OfAnAlternativeHoldForEachOfIt) {
  const EntryBounds bounds = Bounds(
      "((timestamp=\"2022-02-09T12:00:00Z\" AND insertId>\"5\") OR "
      "timestamp>\"2022-02-09T12:00:00Z\") (severity=INFO OR severity=ERROR) "
      "(resource.labels.job_id=a OR resource.labels.job_id=b)");
  EXPECT_EQ(bounds.from, kBoundsNoon);
  EXPECT_EQ(bounds.until, Instant::max());
  EXPECT_EQ(bounds.after_insert_id, "");
  EXPECT_EQ(bounds.severities, SeverityBit(200) | SeverityBit(500));
  EXPECT_FALSE(bounds.job_id);
}

TEST(EntryBounds, OfWhatMayNotHoldAreNone) {
  for (const char* text : {"NOT severity=ERROR", "severity=~\"E\"", "jsonPayload.severity=ERROR",
                           "resource.labels.job_id:j", "resource.labels.job_id!=j", "j", ""}) {
    const EntryBounds bounds = Bounds(text);
    EXPECT_EQ(bounds.severities, ~uint32_t{0}) << text;
    EXPECT_FALSE(bounds.job_id) << text;
    EXPECT_FALSE(bounds.none) << text;
  }
}

TEST(EntryBounds, OfLabelsAreThoseOfEntriesOfJobsOnly) {
  const EntryBounds label = Bounds("labels.\"ml.googleapis.com/job_id\"=j");
  EXPECT_EQ(label.job_id, "j");
  EXPECT_FALSE(label.written_job_id);
  EXPECT_EQ(Bounds("resource.labels.job_id=j").written_job_id, "j");
  const EntryBounds both = Bounds("resource.labels.job_id=a labels.\"ml.googleapis.com/job_id\"=b");
  EXPECT_FALSE(both.none);
  EXPECT_TRUE(both.no_job_entries);
  EXPECT_EQ(both.written_job_id, "a");
}

TEST(EntryBounds, WithoutTheLabelOfJobsAreThoseOfWrittenEntries) {
  EXPECT_TRUE(Bounds("NOT labels.\"ml.googleapis.com/job_id\":*").no_job_entries);
  for (const char* text :
       {"labels.\"ml.googleapis.com/job_id\":*", "NOT labels.\"ml.googleapis.com/job_id\":x",
        "NOT labels.\"ml.googleapis.com/trial_id\":*", "NOT labels.x:*",
        "NOT NOT labels.\"ml.googleapis.com/job_id\":*"}) {
    EXPECT_FALSE(Bounds(text).no_job_entries) << text;
  }
}

TEST(EntryBounds, TellThatNothingCanMatch) {
  EXPECT_TRUE(Bounds("resource.labels.job_id=a resource.labels.job_id=b").none);
  EXPECT_TRUE(Bounds("severity>EMERGENCY").none);
  EXPECT_TRUE(Bounds("severity=INFO severity=ERROR").none);
  EXPECT_TRUE(Bounds("timestamp>\"2023\" timestamp<\"2022\"").none);
  EXPECT_FALSE(Bounds("resource.labels.job_id=a resource.labels.job_id=A").none);
}

}  // namespace
}  // namespace caip::logging
