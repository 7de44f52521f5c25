// The report and the progress line of `caip explore`, for people.

#include "emulator/cli/print/explore_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

using Phase = explore::ExploreProgress::Phase;

explore::ExploreReport AReport() {
  explore::ExploreReport report;
  report.points = report.recorded = report.tried = 3;
  explore::ExploreFinding sure;
  sure.flaw = {"the job ends FAILED: \x1b[31mred\x1b[0m\nand more", "SUCCEEDED", "FAILED"};
  sure.points = 1;
  explore::ExploreFinding doubtful;
  doubtful.flaw = {"numbers drift", "1", "2", "the sum has another order"};
  report.findings = {sure, doubtful};
  return report;
}

TEST(ExploreText, PaintsCausesByTheirCertaintyForATerminalOnly) {
  const std::string plain = ExploreText(AReport(), {}, false);
  const std::string painted = ExploreText(AReport(), {}, true);
  EXPECT_THAT(plain, HasSubstr("\n2. numbers drift  (0 points)\n"));
  EXPECT_THAT(painted, HasSubstr("\033[1;31m1. \033[0m"));
  EXPECT_THAT(painted, HasSubstr("\033[1;33mnumbers drift\033[0m"));
  EXPECT_THAT(plain, EndsWith("\n2 causes, 1 of which may be harmless\n"));
}

TEST(ExploreText, KeepsTheControlSequencesOfATrainerFromATerminal) {
  const std::string painted = ExploreText(AReport(), {}, true);
  EXPECT_THAT(painted, HasSubstr("FAILED: \\x1b[31mred\\x1b[0m\\nand more"));
  EXPECT_THAT(painted, Not(HasSubstr("\033[31m")));
  EXPECT_THAT(ExploreText(AReport(), {}, false), HasSubstr("FAILED: \x1b[31mred"));
}

TEST(ExploreText, IsGreenWithoutFindings) {
  explore::ExploreReport report;
  EXPECT_THAT(ExploreText(report, {}, true), EndsWith("\033[1;32mnothing found\033[0m\n"));
}

TEST(ExploreText, HasNoResultIfNothingWasTried) {
  explore::ExploreReport report;
  report.ended = "interrupted";
  EXPECT_THAT(ExploreText(report, {}, false), EndsWith("\nnot all were tried: interrupted\n"));
  report.tried = 1;
  EXPECT_THAT(ExploreText(report, {}, false), EndsWith("\nnothing found\n"));
}

TEST(ExploreText, SaysWhatWasNotTried) {
  explore::ExploreReport report = AReport();
  report.findings[0].left_out = 16;
  report.left_out = {{report.findings[0].flaw.cause, 16}};
  const std::string text = ExploreText(report, {}, false);
  EXPECT_THAT(text, HasSubstr("\nnot all were tried: 16 restarts are like others that only a limit "
                              "ended (--all-points tries them)\n"));
  EXPECT_THAT(text, HasSubstr("\n   not tried: 16 points like it (--all-points tries them)\n"));
  EXPECT_THAT(ExploreText(AReport(), {}, false), Not(HasSubstr("not tried")));
}

constexpr char kRemedy[] = "describe the lines of steps with --step-regex";

TEST(ExploreText, SaysThatNoStepsWereRecognized) {
  explore::ExploreReport report;
  const explore::ReportHead of_command{"", "", "", kRemedy};
  EXPECT_THAT(ExploreText(report, of_command, false),
              HasSubstr("\nno steps recognized, only what the job stores is compared: describe the "
                        "lines of steps with --step-regex\n"));
  EXPECT_THAT(ExploreText(report, {}, false), Not(HasSubstr("no steps")));
  report.has_steps = true;
  EXPECT_THAT(ExploreText(report, of_command, false), Not(HasSubstr("no steps")));
}

TEST(ExploreText, NamesTheRemedyIfOtherLinesWereTakenForSteps) {
  explore::ExploreReport report = AReport();
  report.has_steps = true;
  report.step_format = "step";
  const explore::ReportHead of_command{"", "", "", kRemedy};
  EXPECT_THAT(ExploreText(report, of_command, false), Not(HasSubstr(kRemedy)));
  report.findings[0].flaw.kind = harness::Flaw::Kind::kSteps;
  EXPECT_THAT(
      ExploreText(report, of_command, false),
      HasSubstr("\n\nThe steps were recognized by their form. If other lines were taken for "
                "steps: describe the lines of steps with --step-regex\n\n"));
  EXPECT_THAT(ExploreText(report, {}, false), Not(HasSubstr("their form")));
  report.step_format = "";  // JSON
  EXPECT_THAT(ExploreText(report, of_command, false), Not(HasSubstr("their form")));
}

TEST(ExploreProgressLine, NamesEachPhase) {
  EXPECT_EQ(ProgressText({Phase::kBaseline, 2, 3, 0}), "baseline run 2/3");
  EXPECT_EQ(ProgressText({Phase::kRestarts, 20, 60, 1}),
            "[##########....................] 20/60 restarts, 1 cause");
  EXPECT_EQ(ProgressText({Phase::kConfirmations, 1, 2, 2}), "trying causes once more: 1/2");
}

TEST(ExploreProgressLine, IsOneLineThatIsGoneAtTheEnd) {
  std::vector<std::string> written;
  Io io;
  io.err = [&written](Output output) { written.emplace_back(output.text); };
  EXPECT_EQ(ProgressLine(io), nullptr);
  io.err_is_terminal = true;
  const auto show = ProgressLine(io);
  show({Phase::kBaseline, 1, 3, 0});
  show({Phase::kOver, 0, 0, 0});
  EXPECT_THAT(written, ElementsAre("\r\033[Kbaseline run 1/3", "\r\033[K"));
}

}  // namespace
}  // namespace caip::cli
