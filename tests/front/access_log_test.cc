#include "emulator/front/access_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.h"

namespace caip::front {
namespace {

AccessEntry AnEntry() {
  return {.time = *ParseRfc3339("2026-11-21T08:20:00.123Z"),
          .identity = "trainer@demo.iam.gserviceaccount.com",
          .job = "census_1",
          .replica = "worker-replica-1",
          .method = "GET",
          .path = "/storage/v1/b/bkt/o/a%2Fb",
          .status = 206,
          .bytes = 1234,
          .took = std::chrono::microseconds(1250)};
}

TEST(AccessLine, HasTheCallerTheRequestAndTheResult) {
  EXPECT_EQ(AccessLine(AnEntry()),
            "2026-11-21T08:20:00.123Z trainer@demo.iam.gserviceaccount.com "
            "census_1/worker-replica-1 GET /storage/v1/b/bkt/o/a%2Fb 206 1234 1.2\n");
}

TEST(AccessLine, HasADashForEachUnknownWord) {
  AccessEntry entry = AnEntry();
  entry.identity = entry.job = entry.replica = "";
  EXPECT_EQ(AccessLine(entry),
            "2026-11-21T08:20:00.123Z - - GET /storage/v1/b/bkt/o/a%2Fb 206 1234 1.2\n");
}

TEST(AccessLine, EscapesBlanksAndControlCharacters) {
  AccessEntry entry = AnEntry();
  entry.path = "/a b\n2026 fake\x7f\u009b31m\x9b";
  EXPECT_THAT(AccessLine(entry), ::testing::HasSubstr(" /a%20b%0A2026%20fake%7F%C2%9B31m%9B 206 "));
}

TEST(AccessLog, AppendsToAnExistingFile) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "access.log";
  ASSERT_TRUE(WriteFile(file, "before\n").ok());
  (*AccessLog::Open(file))->Write(AnEntry());
  EXPECT_EQ(*ReadFile(file), "before\n" + AccessLine(AnEntry()));
}

TEST(AccessLog, StartsANewFileAtTheLimitAndKeepsOneOldFile) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "access.log";
  const std::string line = AccessLine(AnEntry());
  const auto log = *AccessLog::Open(file, static_cast<int64_t>(2 * line.size()), Duration(0));
  for (int i = 0; i < 5; ++i) log->Write(AnEntry());
  EXPECT_EQ(*ReadFile(file), line);
  EXPECT_EQ(*ReadFile(file.string() + ".1"), line + line);
}

std::string NumberedLines(AccessLog& log, int count) {
  std::string lines;
  AccessEntry entry = AnEntry();
  for (int i = 0; i < count; ++i) {
    entry.path = "/" + std::to_string(i);
    log.Write(entry);
    lines += AccessLine(entry);
  }
  return lines;
}

// Longer than any host has been up.
constexpr auto kAlwaysAFlood = std::chrono::hours(24 * 365 * 100);

TEST(AccessLog, WritesTheLinesOfAFloodSoonAndInOrder) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "access.log";
  const auto log = *AccessLog::Open(file, AccessLog::kSizeMax, kAlwaysAFlood);
  const std::string lines = NumberedLines(*log, 100);
  EXPECT_TRUE(ReadFile(file)->starts_with("2026-")) << "the first line waits for no other";
  const MonotonicTime deadline = MonotonicNow() + std::chrono::seconds(30);
  while (*ReadFile(file) != lines && MonotonicNow() < deadline) {
  }
  EXPECT_EQ(*ReadFile(file), lines) << "after 30 s";
}

TEST(AccessLog, WritesTheLinesOfAFloodBeforeItEnds) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "access.log";
  auto log = *AccessLog::Open(file, AccessLog::kSizeMax, kAlwaysAFlood);
  const std::string lines = NumberedLines(*log, 2000);
  log.reset();
  EXPECT_EQ(*ReadFile(file), lines);
}

TEST(AccessLog, ReportsWhyItCannotBeOpened) {
  const auto log = AccessLog::Open("/nowhere/at/all/access.log");
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.error().message, ::testing::HasSubstr("access log '/nowhere/at/all/access.log'"));
}

}  // namespace
}  // namespace caip::front
