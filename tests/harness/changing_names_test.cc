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
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<Event> Writes(const std::vector<std::string>& names) {
  std::vector<Event> run;
  for (const std::string& name : names) run.push_back(Storage("master-0", 1, "create", name));
  return run;
}

TEST(ChangingNames, HaveAGlobForWhatTheyHaveInCommon) {
  EXPECT_THAT(ChangingNames(Writes({"out/ckpt-1/.tmpab3", "out/ckpt-2/.tmpq9z", "out/state"}),
                            Writes({"out/ckpt-1/.tmp5xx", "out/ckpt-2/.tmpw0e", "out/state"})),
              ElementsAre(Pair("out/ckpt-1/.tmpab3", "out/ckpt-1/.tmp*"),
                          Pair("out/ckpt-2/.tmpq9z", "out/ckpt-2/.tmp*")));
  EXPECT_THAT(ChangingNames(Writes({"out/a-17-weights.bin"}), Writes({"out/a-98-weights.bin"})),
              ElementsAre(Pair("out/a-17-weights.bin", "out/a-*-weights.bin")));
}

TEST(ChangingNames, HaveAGlobForOtherNumbersToo) {
  EXPECT_THAT(ChangingNames(Writes({"out/ckpt.tmp.12345"}), Writes({"out/ckpt.tmp.12399"})),
              ElementsAre(Pair("out/ckpt.tmp.12345", "out/ckpt.tmp.*")));
  EXPECT_THAT(ChangingNames(Writes({"out/3f2a", "out/9b1c"}), Writes({"out/77e0", "out/c2d4"})),
              IsEmpty())
      << "nothing tells them from other files";
}

TEST(ChangingNames, AreNotThoseThatOneRunHasAndTheOtherLacks) {
  EXPECT_THAT(ChangingNames(Writes({"out/state", "out/extra"}), Writes({"out/state"})), IsEmpty());
  EXPECT_THAT(ChangingNames(Writes({"out/tmp_abc"}), Writes({"out/tmp-abcd"})), IsEmpty());
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

TEST(ChangingNames, AreCountedByTheirGlob) {
  Evidence run;
  run.events = Writes({"out/.tmp.json", "out/.tmpab3", "out/.tmpq9z", "out/state"});
  PointSelection selection;
  selection.globs = ChangingNames(
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
