// What a restart before the first step changes, too: counts of starts and times, which the explorer
// doubts, and values that count nothing, of which it is sure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/recovery_runs.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(RecoveryComparison, DoubtsACountForEachOfTwoRestarts) {
  const Trainer trainer{.model = "{\"restarts_left\": 3}"};
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence early = trainer.Undisturbed();
  early.objects["job/out/model"].bytes = "{\"restarts_left\": 2}";
  baseline.Learn(early);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"restarts_left\": 1}";
  const CrashPoint first = trainer.Point();
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run, &first)),
              ElementsAre("? objects have different contents: job/out/model"));
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("objects have different contents: job/out/model"));
}

// Without a step there is no early restart that shows what counts.
TEST(RecoveryComparison, IgnoresACountOfTwoRestartsLikeThatOfOne) {
  Trainer trainer;
  trainer.model = "attempt 1";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "attempt 3";
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  const CrashPoint first = trainer.Point();
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run, &first)), IsEmpty());
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)), SizeIs(1));
}

TEST(RecoveryComparison, IgnoresOnlyCountersOfStarts) {
  const Trainer trainer;
  Evidence baseline_run = trainer.Undisturbed();
  baseline_run.objects["job/out/commit"] = {"{\"step\": 6, \"attempt\": 1}", 1};
  baseline_run.objects["job/out/history"] = {"[1, 2]", 1};
  Baseline baseline(baseline_run, baseline_run);
  Evidence early = baseline_run;
  early.objects["job/out/commit"].bytes = "{\"step\": 6, \"attempt\": 2}";
  early.objects["job/out/history"].bytes = "[1, 1, 2]";
  baseline.Learn(early);
  EXPECT_THAT(baseline.counting_patterns(), ElementsAre("job/out/commit"));
  EXPECT_TRUE(baseline.MayCount("job/out/history"));
  Evidence run = baseline_run;
  run.objects["job/out/history"].bytes = "[1, 2, 2]";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("? objects have different contents: job/out/history"));
}

TEST(RecoveryComparison, TakesNoOtherNumberForACountOfStarts) {
  Trainer trainer;
  trainer.model = "{\"examples\": 160}";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"examples\": 161}";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("objects have different contents: job/out/model"));
  EXPECT_TRUE(CountsStarts("attempt 1", "attempt 2"));
  EXPECT_FALSE(CountsStarts("attempt 160", "attempt 161"));
  EXPECT_FALSE(CountsSecondStart("{\"loss\": 0.1}", "{\"loss\": 0.2}"));
  EXPECT_FALSE(CountsSecondStart("{\"loss\": 1.5e-1}", "{\"loss\": 1.5e-2}"));
}

TEST(RecoveryComparison, IsSureOfFractionsThatAnEarlyRestartChangesToo) {
  Trainer trainer;
  trainer.model = "{\"w\": [1, 0.5]}";
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence early = trainer.Undisturbed();
  early.objects["job/out/model"].bytes = "{\"w\": [1, 0.25]}";
  baseline.Learn(early);
  EXPECT_FALSE(baseline.MayCount("job/out/model"));
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"w\": [1, 0.125]}";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("objects have different contents: job/out/model"));
}

/// The flaws of a model that a restart before the first step changes into `early`, and the restart
/// at the crash point into `late`.
std::vector<std::string> CausesIfAnEarlyRestartChanges(const std::string& model,
                                                       const std::string& early,
                                                       const std::string& late) {
  const Trainer trainer{.model = model};
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence restarted = trainer.Undisturbed();
  restarted.objects["job/out/model"].bytes = early;
  baseline.Learn(restarted);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = late;
  return CausesOf(CompareRecovery(baseline, trainer.Point(), run));
}

TEST(RecoveryComparison, IsSureOfAllValuesThatCountNoStartsIfAnEarlyRestartChangesThemToo) {
  const auto numbers = [](unsigned char low) {
    std::string bytes = "\x80\x04";
    for (unsigned char i = 0; i < 40; ++i) (bytes += 'G') += static_cast<char>(low + i);
    return bytes;
  };
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {numbers(130), numbers(190)},
           {"weight 1.25 bias 0.5\n", "weight 3.75 bias 0.125\n"},
           {"{\"examples\": 160}", "{\"examples\": 161}"},
           {"{\"w\": 0.5, \"starts\": 1}", "{\"w\": 0.25, \"starts\": 2}"}}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, restarted, restarted),
                ElementsAre("objects have different contents: job/out/model"))
        << model;
  }
}

TEST(RecoveryComparison, DoubtsWhatMayCountStartsIfAnEarlyRestartChangesItToo) {
  const std::string weights = "\x80" + std::string(80, '\xa5');
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {weights + "K\x01.", weights + "K\x02."},                          // counted
           {weights + "G\x41\xd9\x5a\x01.", weights + "G\x41\xd9\x5b\x77."},  // a time
           {"{\"saved_at\": 1764424800}", "{\"saved_at\": 1764424801}"},
           {"saved at 08:30:12\n", "saved at 08:30:13\n"},
           {"{\"starts\": 1, \"lines\": 7}", "{\"starts\": 2, \"lines\": 9}"},
           {"{\"restarts_left\": 3}", "{\"restarts_left\": 2}"},
           {"{\"cold_start\": 1}", "{\"cold_start\": 0}"},
           {"{\"previous\": -1}", "{\"previous\": 0}"},
           {"{\"resumed\": false, \"lines\": 7}", "{\"resumed\": true, \"lines\": 9}"}}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, restarted, restarted),
                ElementsAre("? objects have different contents: job/out/model"))
        << model;
  }
}

TEST(RecoveryComparison, DoubtsWholeNumbersOfATextIfAllStepsAreTheSame) {
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {"10 steps, took 2 s\n", "10 steps, took 1 s\n"},
           {"10 steps, took 1 s\n", "10 steps, took 0 s\n"},
           {"this process: 10 steps\n", "this process: 6 steps\n"},
           {"saved at 08:30:12.5\n", "saved at 08:30:44.5\n"}}) {
    for (const std::string& early : {model, restarted}) {
      EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, early, restarted),
                  ElementsAre("? objects have different contents: job/out/model"))
          << restarted;
    }
  }
}

// No step shows it. A restart before the first step changes nothing, or adds a header.
TEST(RecoveryComparison, IsSureOfRowsThatARestartRepeatsCutsOrLoses) {
  const std::string header = "step,loss\n";
  const std::string rows = "1,9.5\n2,5.75\n3,3.5\n";
  for (const std::string& early : {header + rows, header + header + rows}) {
    for (const auto& [found, damage] : std::vector<std::pair<std::string, std::string>>{
             {header + "1,9.5\n2,5.75\n" + rows, "rows come more than once: "},
             {header + "1,9" + header + rows, "a row is cut, or joined with another line: "},
             {header + "2,5.75\n3,3.5\n", "rows are missing: "}}) {
      const Trainer trainer{.model = header + rows};
      Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
      Evidence restarted = trainer.Undisturbed();
      restarted.objects["job/out/model"].bytes = early;
      baseline.Learn(restarted);
      Evidence run = trainer.Restarted(4);
      run.objects["job/out/model"].bytes = found;
      const std::vector<Flaw> flaws = CompareRecovery(baseline, trainer.Point(), run);
      ASSERT_THAT(CausesOf(flaws), ElementsAre("objects have different contents: job/out/model"))
          << found;
      EXPECT_THAT(flaws[0].found, StartsWith(damage));
    }
  }
}

TEST(RecoveryComparison, DoubtsNumbersThatDriftBesideACount) {
  EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"starts\":1,\"boots\":1,\"loss\":0.123456789}",
                                            "{\"starts\":2,\"boots\":2,\"loss\":0.123456789}",
                                            "{\"starts\":2,\"boots\":2,\"loss\":0.123456788}"),
              ElementsAre("? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, IsSureOfJsonThatIsCutShortIfAnEarlyRestartChangesItToo) {
  for (const char* late : {"{\"starts\": [\"a\", \"a\"], \"w\": [0.", ""}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"starts\": [\"a\"], \"w\": [0.5]}",
                                              "{\"starts\": [\"a\", \"a\"], \"w\": [0.5]}", late),
                ElementsAre("objects have different contents: job/out/model"))
        << late;
  }
}

// A padded file has the same size with one entry more: a table, an archive.
TEST(RecoveryComparison, DoubtsAnEntryForEachStartInAPaddedFile) {
  std::string once =
      "\xff"
      "entry 1\n";
  once.resize(4096, '\0');
  std::string twice = once;
  twice.replace(600, 150, std::string(150, 'e'));
  EXPECT_THAT(CausesIfAnEarlyRestartChanges(once, twice, twice),
              ElementsAre("? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, DoubtsACountOfTheStartsOfAllReplicas) {
  const Trainer trainer;
  Evidence run = trainer.Undisturbed();
  run.objects["job/out/starts"] = {"{\"starts\": 4}", 1};
  Evidence early = run;
  early.objects["job/out/starts"].bytes = "{\"starts\": 5}";
  for (const size_t others : {0, 3}) {
    Evidence all = run;
    for (size_t i = 0; i < others; ++i) {
      all.events.insert(all.events.begin(), Start("worker-" + std::to_string(i), 1));
    }
    Baseline baseline(all, all);
    baseline.Learn(early);
    EXPECT_EQ(baseline.starts(), others + 1);
    const std::string doubt = others > 0 ? "? " : "";
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), early)),
                ElementsAre(doubt + "objects have different contents: job/out/starts"));
  }
}

TEST(RecoveryComparison, DoubtsACountBesideAValueThatAnEarlyRestartChanges) {
  EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"w\": 0.5, \"starts\": 1, \"step\": 6}",
                                            "{\"w\": 0.25, \"starts\": 2, \"step\": 6}",
                                            "{\"w\": 0.5, \"starts\": 2, \"step\": 6}"),
              ElementsAre("? objects have different contents: job/out/model"));
}

// One of the objects that share a pattern holds a learned value, another one a count of starts.
TEST(RecoveryComparison, ComparesObjectsWhosePatternAlsoCountsStarts) {
  const Trainer trainer;
  Evidence run = trainer.Undisturbed();
  run.objects["job/out/part-1"] = {"1", 1};
  run.objects["job/out/part-2"] = {"{\"w\": 0.5}", 1};
  Baseline baseline(run, run);
  Evidence early = run;
  early.objects["job/out/part-1"].bytes = "2";
  early.objects["job/out/part-2"].bytes = "{\"w\": 0.25}";
  baseline.Learn(early);
  EXPECT_THAT(baseline.counting_patterns(), IsEmpty());
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), early)),
              ElementsAre("objects have different contents: job/out/part-#"));
}

}  // namespace
}  // namespace caip::harness
