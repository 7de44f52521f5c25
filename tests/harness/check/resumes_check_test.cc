// The check of whether a trainer resumes from what it saved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/check/check.h"
#include "harness/check/restart_point.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A run whose master writes a configuration, two checkpoints if `saves`, loses its machine, reads
/// `read` in boot 2 and writes the configuration again.
CheckResult ResumesAfterReading(const std::vector<std::string>& read, bool saves) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("config.json"));
  if (saves) session.With(2, Saved("ckpt-1")).With(3, Saved("ckpt-2"));
  session.With(4, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  BodyOf<ExitEvent>(run.evidence.events.back()).signal = 9;
  run.evidence.events.push_back(Start("master-0", 2));
  for (const std::string& object : read) {
    run.evidence.events.push_back(Storage("master-0", 2, "read", "job/out/" + object));
  }
  run.evidence.events.push_back(Storage("master-0", 2, "write", "job/out/config.json"));
  run.evidence.events.push_back(Exit("master-0", 2));
  session->runs["maintenance"] = std::move(run);
  return EvaluateCheck(*FindCheck("restart/resumes"), *session);
}

TEST(ResumesCheck, TakesNoConfigurationForACheckpoint) {
  const CheckResult config = ResumesAfterReading({"config.json"}, true);
  EXPECT_EQ(config.verdict, CheckVerdict::kWarn) << config.found;
  EXPECT_THAT(config.found, HasSubstr("job/out/config.json, which the training writes once"));
  EXPECT_EQ(ResumesAfterReading({"config.json", "ckpt-2"}, true).verdict, CheckVerdict::kPass);
  EXPECT_EQ(ResumesAfterReading({}, true).verdict, CheckVerdict::kFail);
  EXPECT_EQ(ResumesAfterReading({"config.json"}, false).verdict, CheckVerdict::kWarn)
      << "it may be a checkpoint";
}

/// A trainer without steps saves twice in boot 1, loses its machine, and does `second` in boot 2.
/// Each save writes `file` and renames `from` to `to`.
CheckResult ResumesAfterRenames(const std::string& file, const std::string& from,
                                const std::string& to, const std::vector<Event>& second) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  for (const int64_t save : {1, 2}) session.With(save, Saved(file)).With(save, Renamed(from, to));
  session.With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  BodyOf<ExitEvent>(run.evidence.events.back()).signal = 15;
  run.evidence.events.push_back(Start("master-0", 2));
  for (const Event& event : second) run.evidence.events.push_back(event);
  run.evidence.events.push_back(Exit("master-0", 2));
  session->runs["maintenance"] = std::move(run);
  return EvaluateCheck(*FindCheck("restart/resumes"), *session);
}

Event InBoot2(const std::string& op, const std::string& object) {
  return Storage("master-0", 2, op, "job/out/" + object);
}

TEST(ResumesCheck, KnowsFilesThatWereRenamed) {
  const CheckResult file =
      ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt", {InBoot2("read", "ckpt")});
  EXPECT_EQ(file.verdict, CheckVerdict::kPass) << file.found;
  EXPECT_EQ(file.found, "boot 2 read job/out/ckpt, which boot 1 had written");
  const CheckResult directory = ResumesAfterRenames("ckpt.tmp/weights", "ckpt.tmp", "ckpt",
                                                    {InBoot2("read", "ckpt/weights")});
  EXPECT_EQ(directory.verdict, CheckVerdict::kPass) << directory.found;
  const CheckResult moved =
      ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt",
                          {Renamed("ckpt", "ckpt.bak", 2), InBoot2("read", "ckpt.bak")});
  EXPECT_NE(moved.verdict, CheckVerdict::kFail) << moved.found;
}

TEST(ResumesCheck, KnowsFilesThatWereRenamedFromTheDiskOfTheReplica) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : {1, 2}) {
    Event event = Storage("master-0", 1, "", "");
    event.body = DiskEvent{{.op = "create", .object = "disk:tmp/x"}};
    session.With(second, event);
    event.body = DiskEvent{{.op = "rename", .object = "disk:tmp/x", .from = "job/out/ckpt"}};
    session.With(second, event);
  }
  session.With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(WritesOf(session->Run("plain"), "master-0").size(), 2u);
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(InBoot2("read", "ckpt"));
  session->runs["maintenance"] = std::move(run);
  EXPECT_NE(EvaluateCheck(*FindCheck("restart/resumes"), *session).verdict, CheckVerdict::kFail);
}

TEST(ResumesCheck, FailsIfBoot2ReadsOnlyItsOwnFiles) {
  const CheckResult nothing = ResumesAfterRenames("ckpt.tmp", "ckpt.tmp", "ckpt", {});
  EXPECT_EQ(nothing.verdict, CheckVerdict::kFail);
  EXPECT_THAT(nothing.evidence, Contains(HasSubstr("renamed to job/out/ckpt")));
  const CheckResult own = ResumesAfterRenames(
      "ckpt.tmp", "ckpt.tmp", "ckpt",
      {InBoot2("create", "ckpt.tmp"), Renamed("ckpt.tmp", "ckpt", 2), InBoot2("read", "ckpt")});
  EXPECT_EQ(own.verdict, CheckVerdict::kFail) << own.found;
}

TEST(ResumesCheck, IsSkippedIfTheFirstFileWasNotComplete) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  session.With(1, Saved("model.tmp")).With(2, Exit("master-0", 1, 0, 15)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(InBoot2("overwrite", "model.tmp"));
  run.evidence.events.push_back(Renamed("model.tmp", "model", 2));
  run.evidence.objects["job/out/model"] = {};
  session->runs["maintenance"] = std::move(run);
  const CheckResult result = EvaluateCheck(*FindCheck("restart/resumes"), *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kSkipped) << result.found;
  EXPECT_THAT(result.found, HasSubstr("see restart/checkpoints"));
}

TEST(ResumesCheck, NeedsMoreThanAConfigurationThatWasSaved) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("config.json"));
  session.With(2, Step("master-0", 1, 1)).With(3, Step("master-0", 1, 2));
  session.With(4, Exit("master-0", 1)).Ends("SUCCEEDED");
  CheckRun run = session->runs["plain"];
  run.evidence.events.push_back(Step("master-0", 2, 1));
  session->runs["maintenance"] = std::move(run);
  const CheckResult result = EvaluateCheck(*FindCheck("restart/resumes"), *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kSkipped);
  EXPECT_THAT(result.found, HasSubstr("restart/checkpoints"));
}

}  // namespace
}  // namespace caip::harness
