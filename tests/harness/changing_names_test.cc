// Names of files that differ from run to run, and the crash points at them.

#include "harness/explorer/changing_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;

std::vector<Event> Writes(const std::vector<std::string>& names) {
  std::vector<Event> run;
  for (const std::string& name : names) run.push_back(Storage("master-0", 1, "create", name));
  return run;
}

using Names = std::vector<std::string>;

// Letters that differ in each run.
std::string Unknown(size_t letters) { return std::string(letters, '?'); }

// The globs of the names of a run, in the order of the names.
Names GlobsOf(const Names& names, const Names& other) {
  const ChangingNames changing(Writes(names), Writes(other));
  Names globs;
  for (const std::string& name : names) globs.push_back(changing.GlobOf(name));
  return globs;
}

TEST(ChangingNames, HaveAGlobForWhatTheyHaveInCommon) {
  EXPECT_THAT(GlobsOf({"out/ckpt-1/.tmpab3", "out/ckpt-2/.tmpq9z", "out/state"},
                      {"out/ckpt-1/.tmp5xx", "out/ckpt-2/.tmpw0e", "out/state"}),
              ElementsAre("out/ckpt-1/.tmp*", "out/ckpt-2/.tmp*", ""));
  EXPECT_THAT(GlobsOf({"out/a-17-weights.bin"}, {"out/a-98-weights.bin"}),
              ElementsAre("out/a-*-weights.bin"));
  EXPECT_THAT(
      GlobsOf({"disk:tmp/.newab3", "disk:tmp/.newq9z"}, {"disk:tmp/.new5xx", "disk:tmp/.neww0e"}),
      ElementsAre("disk:tmp/.new*", "disk:tmp/.new*"));
}

TEST(ChangingNames, HaveAGlobForOtherNumbersToo) {
  EXPECT_THAT(GlobsOf({"out/ckpt.tmp.12345"}, {"out/ckpt.tmp.12399"}),
              ElementsAre("out/ckpt.tmp.*"));
}

TEST(ChangingNames, OfDifferentLengthsCorrespond) {
  EXPECT_THAT(GlobsOf({"out/state81", "out/state92345"}, {"out/state7123", "out/state945"}),
              ElementsAre("out/state*", "out/state*"));
  EXPECT_THAT(GlobsOf({"out/a.new"}, {"out/bc.new"}), ElementsAre("out/*.new"));
}

TEST(ChangingNames, WithoutACommonLetterAreKnownByTheirForm) {
  EXPECT_THAT(GlobsOf({"out/3f2a", "out/9b1c", "out/last"}, {"out/77e0", "out/c2d4", "out/last"}),
              ElementsAre("out/" + Unknown(4), "out/" + Unknown(4), ""));
  EXPECT_THAT(GlobsOf({"out/550e8400-e29b"}, {"out/9a7b330a-a8d2"}),
              ElementsAre("out/" + Unknown(8) + "-" + Unknown(4)));
  EXPECT_THAT(GlobsOf({"out/81-a"}, {"out/7-12"}), ElementsAre("out/*-*"));
}

TEST(ChangingNames, WithoutACommonFormAreKnownByTheirDirectory) {
  EXPECT_THAT(GlobsOf({"out/aB-x", "out/q--1"}, {"out/9Za1", "out/b_c-d.e"}),
              ElementsAre("out/*", "out/*"));
  EXPECT_THAT(GlobsOf({"out/aB-x", "out/q--1"}, {"out/9Za1z"}), ElementsAre("", ""))
      << "it is not known which one is missing";
}

TEST(ChangingNames, OfDirectoriesAreThoseOfTheirFiles) {
  EXPECT_THAT(GlobsOf({"out/48ba", "out/48ba/w", "out/48ba/tmp_a1b", "out/48ba/tmp_g5d"},
                      {"out/f01c", "out/f01c/w", "out/f01c/tmp_zz9", "out/f01c/tmp_hu0"}),
              ElementsAre("out/" + Unknown(4), "out/" + Unknown(4) + "/w",
                          "out/" + Unknown(4) + "/tmp_*", "out/" + Unknown(4) + "/tmp_*"));
}

TEST(ChangingNames, OfTwoDoNotBeginAlikeByChance) {
  EXPECT_THAT(GlobsOf({"out/tmp_x2"}, {"out/tmp_9k"}), ElementsAre("out/tmp_*"));
  EXPECT_THAT(GlobsOf({"out/a3f2"}, {"out/a99c"}), ElementsAre("out/" + Unknown(4)));
  EXPECT_THAT(GlobsOf({"out/result-c1a3f2"}, {"out/result-c7e99c"}), ElementsAre("out/result-*"));
  EXPECT_THAT(GlobsOf({"out/r-a7q.json"}, {"out/r-adx.json"}), ElementsAre("out/r-*.json"));
}

TEST(ChangingNames, OfTwoDoNotEndAlikeByChance) {
  EXPECT_THAT(GlobsOf({"out/result-3f2a"}, {"out/result-99ca"}), ElementsAre("out/result-*"));
  EXPECT_THAT(GlobsOf({"out/q3fb2d-state"}, {"out/w9ce2d-state"}), ElementsAre("out/*-state"));
  EXPECT_THAT(GlobsOf({"out/3f2_state"}, {"out/99c_state"}), ElementsAre("out/*_state"));
}

TEST(ChangingNames, OfAThirdRunHaveTheSameGlob) {
  const ChangingNames changing(Writes({"out/3f2a", "out/last", "out/ckpt-1/.tmpab3"}),
                               Writes({"out/77e0", "out/last", "out/ckpt-1/.tmp5xx"}));
  EXPECT_EQ(changing.GlobOf("out/ab12"), "out/" + Unknown(4));
  EXPECT_EQ(changing.GlobOf("out/lock"), "") << "it has other letters than random ones";
  EXPECT_EQ(changing.GlobOf("out/last"), "");
  EXPECT_EQ(changing.GlobOf("out/ckpt-2/.tmpzz9"), "out/ckpt-2/.tmp*");
}

TEST(ChangingNames, AreNotThoseThatOneRunHasAndTheOtherLacks) {
  EXPECT_THAT(GlobsOf({"out/state", "out/extra"}, {"out/state"}), ElementsAre("", ""));
  EXPECT_THAT(GlobsOf({"out/tmp_abc", "out/more.txt"}, {"out/tmp-abcd"}), ElementsAre("", ""));
}

TEST(ChangingNames, OfObjectsThatAreLeftOverMakeOneCause) {
  Evidence first;
  Evidence second;
  first.events = Writes({"out/.tmpab3", "out/ckpt-1"});
  second.events = Writes({"out/.tmpq_z", "out/ckpt-1"});
  const Baseline baseline(first, second, {});
  EXPECT_EQ(baseline.PatternOf("out/.tmp777"), "out/.tmp*");
  EXPECT_EQ(baseline.PatternOf("out/ckpt-27"), "out/ckpt-#");
}

TEST(ChangingNames, OfResultsAreNotCompared) {
  Evidence first;
  Evidence second;
  for (auto [run, name] : {std::pair{&first, "out/r-3f2a"}, {&second, "out/r-90bb"}}) {
    run->events = Writes({name, "out/last"});
    run->objects = {{name, {"done"}}, {"out/last", {"4"}}};
  }
  const Baseline baseline(first, second, {});
  EXPECT_FALSE(baseline.Compares("out/r-c0d1")) << "a third run";
  EXPECT_TRUE(baseline.Compares("out/last"));
  EXPECT_THAT(baseline.unstable_objects(), ElementsAre("out/r-*"));
}

TEST(ChangingNames, AreCountedByTheirGlob) {
  Evidence run;
  run.events = Writes({"out/.tmp.json", "out/.tmpab3", "out/.tmpq9z", "out/state"});
  PointSelection selection;
  selection.changing = ChangingNames(
      run.events, Writes({"out/.tmp.json", "out/.tmp5xx", "out/.tmpw0e", "out/state"}));
  std::vector<std::string> described;
  std::vector<std::string> triggers;
  for (const CrashPoint& point : FindCrashPoints(run, selection)) {
    if (point.before) continue;
    described.push_back(Describe(point));
    triggers.push_back(WhenText(point));
    EXPECT_EQ(point.nth, 1) << "recorded changes have their own names";
  }
  EXPECT_THAT(described, ElementsAre("after create out/.tmp.json by master-0",
                                     "after create out/.tmp* (time 2) by master-0",
                                     "after create out/.tmp* (time 3) by master-0",
                                     "after create out/state by master-0"));
  EXPECT_THAT(triggers, ElementsAre(R"({after: {create: "out/.tmp.json"}})",
                                    R"({after: {create: "out/.tmp*"}, nth: 2})",
                                    R"({after: {create: "out/.tmp*"}, nth: 3})",
                                    R"({after: {create: "out/state"}})"));
}

}  // namespace
}  // namespace caip::harness
