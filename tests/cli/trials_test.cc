// `caip jobs trials`: as JSON, as a table, and with --watch.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <map>
#include <optional>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "report/study_table.h"
#include "report/terminal_size.h"
#include "tests/cli/study_view.h"

namespace caip::cli {
namespace {

using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

constexpr Instant kNow{std::chrono::seconds(110)};

std::vector<std::string> LinesOf(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return Split(text, '\n');
}

size_t WidthOf(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Fifty trials of which three run; the first is the best.
report::StudyView ALongStudy() {
  report::StudyView study = AStudy();
  study.trials.clear();
  for (int i = 1; i <= 50; ++i) {
    report::TrialView trial = ATrial(std::to_string(i), 0.1, "a", i == 1 ? 0.99 : 0.5);
    trial.values["rate"] = "0.072136064767837529";
    trial.end_time = Instant(std::chrono::seconds(100 + i));
    if (i > 47) {
      trial.state = "RUNNING";
      trial.end_time.reset();
      trial.final_metric.reset();
    }
    study.trials.push_back(trial);
  }
  return study;
}

TEST(StudyScreen, FitsTheWindow) {
  for (const report::TerminalSize size :
       {report::TerminalSize{80, 24}, {60, 12}, {200, 60}, {10, 4}, {1, 1}}) {
    const std::string screen = report::StudyScreen(ALongStudy(), kNow, size);
    const auto lines = LinesOf(screen);
    EXPECT_LT(std::count(screen.begin(), screen.end(), '\n'), static_cast<long>(size.rows));
    for (const std::string& line : lines) EXPECT_LE(WidthOf(line), size.columns) << line;
  }
  EXPECT_EQ(LinesOf(report::StudyScreen(ALongStudy(), kNow, {200, 60})).size(), 53u)
      << "nothing is missing";
}

TEST(StudyScreen, KeepsTheBestTheRunningAndThoseThatEndedLast) {
  const auto lines = LinesOf(report::StudyScreen(ALongStudy(), kNow, {80, 12}));
  ASSERT_EQ(lines.size(), 11u);
  std::vector<std::string> ids;
  for (size_t i = 2; i < 9; ++i) ids.push_back(lines[i].substr(0, 4));
  EXPECT_THAT(ids, ::testing::ElementsAre("* 1 ", "  45", "  46", "  47", "  48", "  49", "  50"));
  EXPECT_EQ(lines[9], "and 43 more trials; all of them: caip jobs trials j");
  EXPECT_THAT(lines[10], StartsWith("best so far: trial 1, accuracy 0.99"));
}

TEST(StudyScreen, HasShortNumbersWhereTheTableHasExactOnes) {
  report::StudyView study = ALongStudy();
  study.trials.resize(1);
  study.trials[0].values["kind"] = "0.072136064767837529";  // a text, whatever it looks like
  const std::string screen = report::StudyScreen(study, kNow, {200, 24});
  EXPECT_THAT(screen, HasSubstr("rate=0.0721361, kind=0.072136064767837529"));
  EXPECT_THAT(screen, HasSubstr("  0.0721361  "));
  EXPECT_THAT(report::StudyTable(study, kNow), HasSubstr("rate=0.072136064767837529"));
  study.parameters[0].name = "training/a_parameter_of_a_long_name";
  study.trials[0].values["kind"] = "two\nlines\x1b[2J";
  const auto lines = LinesOf(report::StudyScreen(study, kNow, {200, 24}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[1], HasSubstr("training/a_pa…"));
  EXPECT_THAT(lines[2], HasSubstr("two?lines?[2J"));
}

constexpr char kRunning[] = R"({
  "metric": "accuracy", "now": "2022-02-09T09:00:30Z",
  "job": {"jobId": "j", "state": "RUNNING", "trainingInput": {"hyperparameters": {
    "goal": "MAXIMIZE", "maxTrials": 2, "params": [
      {"parameterName": "rate", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}]}},
   "trainingOutput": {"trials": [
     {"trialId": "1", "state": "RUNNING", "hyperparameters": {"rate": "0.5"},
      "startTime": "2022-02-09T09:00:20Z"}]}},
  "measurements": {"1": [{"step": 1, "value": "NaN", "time": 2}]}})";

// The window's size at a look; none: there is no terminal.
void SetWindow(std::optional<report::TerminalSize> size) {
  for (const auto& [name, count] : std::map<const char*, size_t>{
           {"COLUMNS", size ? size->columns : 0}, {"LINES", size ? size->rows : 0}}) {
    count > 0 ? ::setenv(name, std::to_string(count).c_str(), 1) : ::unsetenv(name);
  }
}

/// Answers `looks` times that the job runs, and then that it has ended. At each look the window has
/// the next size of `sizes`.
class TrialsConnection final : public client::Connection {
 public:
  TrialsConnection(int looks, std::vector<report::TerminalSize> sizes)
      : looks_(looks), sizes_(std::move(sizes)) {}
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const client::BodySink&) override {
    EXPECT_EQ(request.target, "/emulator/v1/projects/p/jobs/j/trials");
    if (!sizes_.empty()) SetWindow(sizes_[std::min(look_++, sizes_.size() - 1)]);
    Json answer = *ParseJson(kRunning);
    if (looks_-- <= 0) answer["job"]["endTime"] = "2022-02-09T09:01:00Z";
    return http::ClientResponse{200, {}, CompactJson(answer)};
  }
  std::string base_url() const override { return ""; }

 private:
  int looks_;
  std::vector<report::TerminalSize> sizes_;
  size_t look_ = 0;
};

struct Ran {
  int code = 0;
  std::vector<std::string> writes;
  std::string err;
  std::string out() const { return Join(writes, ""); }
};

// In a terminal whose window has these sizes in turn, or without a terminal.
Ran Called(const Words& more, int looks, const std::vector<report::TerminalSize>& sizes = {}) {
  Words words = {"jobs", "trials", "j", "--project", "p"};
  words.insert(words.end(), more.begin(), more.end());
  const Command command = ParseArguments(words);
  Ran ran;
  if (const auto* print = std::get_if<PrintCommand>(&command)) {
    return {print->exit_code, {print->out}, print->err};
  }
  const Io io{[&](std::string_view text) { ran.writes.emplace_back(text); },
              [&](std::string_view text) { ran.err += text; }, !sizes.empty()};
  const app::Connect connect = [&](const app::EmulatorFlags&, app::Lifetime) {
    return Result<std::unique_ptr<client::Connection>>(
        std::make_unique<TrialsConnection>(looks, sizes));
  };
  ran.code = RunTrials(std::get<TrialsCommand>(command), {io, connect, {}});
  SetWindow(std::nullopt);
  return ran;
}

TEST(JobsTrials, WritesEachLookOverTheLastOne) {
  const Ran ran = Called({"--watch"}, 2, {{80, 24}, {80, 24}, {30, 24}});
  ASSERT_EQ(ran.writes.size(), 3u) << ran.err;
  EXPECT_THAT(ran.writes, Each(EndsWith("\n\x1b[J\x1b[?7h"))) << "what is longer goes";
  EXPECT_THAT(ran.writes[0], StartsWith("\x1b[?7l\x1b[Kj  RUNNING"));
  EXPECT_THAT(ran.writes[1], StartsWith("\x1b[?7l\x1b[3A\r\x1b[Kj  RUNNING"));
  EXPECT_THAT(ran.writes[1], HasSubstr("\n\x1b[KTRIAL"));
  EXPECT_THAT(ran.writes[2], StartsWith("\x1b[?7l\x1b[H\x1b[K")) << "the window has changed";
  EXPECT_THAT(ran.writes[2], HasSubstr("…\n"));
}

TEST(JobsTrials, MovesUpByLinesThatTheWindowHas) {
  const Ran ran = Called({"--watch"}, 1, {{20, 3}});
  ASSERT_EQ(ran.writes.size(), 2u);
  EXPECT_THAT(ran.writes[1], StartsWith("\x1b[?7l\x1b[2A\r\x1b[K"));
}

TEST(JobsTrials, AreGivenInTheFormatThatIsAskedFor) {
  const Json told = *ParseJson(Called({"--format", "json"}, 1).out());
  EXPECT_EQ(told["job"]["trainingOutput"]["trials"][0]["trialId"], "1");
  EXPECT_EQ(told["measurements"]["1"][0]["value"], "NaN");
  EXPECT_EQ(Called({"--format", "value(job.jobId)"}, 1).out(), "j\n");
  EXPECT_THAT(Called({"--format", "yaml"}, 1).out(), HasSubstr("trialId: '1'\n"));
  EXPECT_THAT(Called({"--format", "table"}, 1).out(), StartsWith("j  RUNNING"));
  const Ran unknown = Called({"--format", "csv", "--watch"}, 1'000'000);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Format [csv]"));
}

TEST(JobsTrials, AreGivenOnceWhenTheyWereWatched) {
  const Ran ran = Called({"--format", "json", "--watch"}, 1, {{80, 24}});
  ASSERT_EQ(ran.writes.size(), 1u);
  EXPECT_TRUE((*ParseJson(ran.out()))["job"].contains("endTime"));
}

TEST(JobsTrials, NameThePlotFlagOnceWhenItIsWrong) {
  const Ran ran = Called({"--plot", "study.png"}, 1);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("argument --plot: Bad value [study.png]"));
  EXPECT_THAT(ran.err, Not(HasSubstr("--plot: argument")));
}

TEST(TerminalSize, IsThatOfTheWindow) {
  SetWindow(std::nullopt);
  const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_GE(terminal.get(), 0);
  const winsize window{12, 60, 0, 0};
  ASSERT_EQ(::ioctl(terminal.get(), TIOCSWINSZ, &window), 0);
  EXPECT_EQ(report::TerminalSizeOf(terminal.get()), (report::TerminalSize{60, 12}));
  ::setenv("COLUMNS", "132", 1);  // the user's own word
  ::setenv("LINES", "none", 1);
  EXPECT_EQ(report::TerminalSizeOf(terminal.get()), (report::TerminalSize{132, 12}));
  SetWindow(std::nullopt);
}

TEST(TerminalSize, IsTheUsualOneWhereNobodyTells) {
  SetWindow(std::nullopt);
  const Fd none(::open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(report::TerminalSizeOf(none.get()), (report::TerminalSize{80, 24}));
}

}  // namespace
}  // namespace caip::cli
