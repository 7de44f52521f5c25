#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/output.h"
#include "harness/simulation/simulation.h"

namespace caip::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

SimulateCommand ParsedSimulate(const Words& words) {
  const Command command = ParseArguments(words);
  if (const auto* print = std::get_if<PrintCommand>(&command)) ADD_FAILURE() << print->err;
  const auto* simulate = std::get_if<SimulateCommand>(&command);
  return simulate ? *simulate : SimulateCommand{};
}

int CodeOf(const Words& words) {
  const Command command = ParseArguments(words);
  const auto* print = std::get_if<PrintCommand>(&command);
  return print ? print->exit_code : -1;
}

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Simulated(const Words& words) {
  Outcome outcome;
  const Io io{[&](std::string_view text) { outcome.out += text; },
              [&](std::string_view text) { outcome.err += text; }};
  outcome.code = RunSimulate(ParsedSimulate(words), Surroundings{io, {}, {}});
  return outcome;
}

TEST(Simulate, TakesASeedARangeOrANumberOfJobs) {
  EXPECT_EQ(ParsedSimulate({"simulate", "--seed", "0"}).seed, 0);
  EXPECT_EQ(ParsedSimulate({"simulate", "--seeds", "3..20"}).seeds,
            (std::pair<int64_t, int64_t>{3, 20}));
  EXPECT_EQ(ParsedSimulate({"simulate", "--jobs", "1000000", "--threads", "2"}).jobs, 1'000'000);
  EXPECT_EQ(ParsedSimulate({"simulate", "--jobs", "5", "--threads", "2"}).threads, 2);
}

TEST(Simulate, OtherWordsAreUsageErrors) {
  const Words kWrong[] = {{"simulate", "--seed", "-1"},
                          {"simulate", "--seed", "x"},
                          {"simulate", "--seeds", "7"},
                          {"simulate", "--seeds", "9..3"},
                          {"simulate", "--seeds", "1..x"},
                          {"simulate", "--jobs", "0"},
                          {"simulate", "--threads", "0"},
                          {"simulate", "--seed", "1", "--jobs", "5"},
                          {"simulate", "--seeds", "1..2", "--jobs", "5"},
                          {"simulate", "--journal"},
                          {"simulate", "extra"}};
  for (const Words& words : kWrong) EXPECT_EQ(CodeOf(words), kExitUsage) << Join(words, " ");
}

TEST(Simulate, ReportsWhatRan) {
  const Outcome outcome = Simulated({"simulate", "--seeds", "1..40", "--threads", "2"});
  EXPECT_EQ(outcome.code, kExitSuccess) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("40 seeds, "));
  EXPECT_THAT(outcome.out, HasSubstr(" events a second\n"));
  EXPECT_THAT(outcome.out, EndsWith("all invariants held\n"));
  EXPECT_THAT(outcome.err, HasSubstr("20 of 40 seeds, "));
}

TEST(Simulate, PrintsTheSameJournalOfTheSameSeed) {
  const auto journal = [] {
    const std::string out = Simulated({"simulate", "--seed", "7", "--journal"}).out;
    return out.substr(0, out.find("1 seeds, "));
  };
  const std::string first = journal();
  EXPECT_THAT(first, HasSubstr("job0 submitted\njob0   log service: "));
  EXPECT_EQ(first, journal());
}

TEST(Simulate, TheCommandThatIsNamedForAFailedSeedIsOne) {
  const std::string text = harness::FailureText({123, {{"name", "what"}}, {"a line"}});
  const std::string head = "again: caip ";
  const size_t at = text.find(head);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string line = text.substr(at + head.size());
  const SimulateCommand command = ParsedSimulate(Split(Trim(line), ' '));
  EXPECT_EQ(command.seed, 123);
  EXPECT_TRUE(command.journal);
}

}  // namespace
}  // namespace caip::cli
