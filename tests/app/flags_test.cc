// The flags of a command are compared with those of the running emulator.
#include <gtest/gtest.h>

#include "emulator/app/attach/owner.h"

namespace caip::app {
namespace {

using Words = std::vector<std::string>;

TEST(FlagsOfARunningEmulator, IncludeAWantedFlagOnlyWithItsValue) {
  const Words present = {
      "--emulator-config", "c.yaml", "--seed", "3", "--strict-runtime", "--map-image", "a=x",
      "--map-image",       "b=7",    "--gpus", "7"};
  for (const Words& wanted :
       {Words{}, Words{"--seed", "3"}, Words{"--strict-runtime"}, Words{"--map-image", "b=7"},
        Words{"--emulator-config", "c.yaml", "--gpus", "7"}}) {
    EXPECT_TRUE(HasFlags(present, wanted)) << ::testing::PrintToString(wanted);
  }
  for (const Words& wanted :
       {Words{"--seed", "7"},  // 7 is the value of another flag
        Words{"--seed", "--gpus"}, Words{"--gpus", "3"}, Words{"--map-image", "7"},
        Words{"--create-buckets"}, Words{"--emulator-config", "3"},
        Words{"--map-image", "a=x", "--map-image", "c=1"}}) {
    EXPECT_FALSE(HasFlags(present, wanted)) << ::testing::PrintToString(wanted);
  }
}

TEST(Flags, OfAReplacedEmulatorStayUnlessTheyAreGivenAgain) {
  EmulatorFlags given;
  given.settings = {{"seed", {"8"}}, {"images", {"gcr.io/p/b=run"}}};
  const EmulatorFlags all =
      WithFlags({"--emulator-config", "c.yaml", "--seed", "7", "--map-image", "gcr.io/p/a=run",
                 "--create-buckets", "--isolation", "process"},
                given);
  EXPECT_EQ(all.config, "c.yaml");
  using Values = std::vector<std::string>;
  EXPECT_EQ(all.settings.at("seed"), Values{"8"});
  EXPECT_EQ(all.settings.at("images"), (Values{"gcr.io/p/a=run", "gcr.io/p/b=run"}));
  EXPECT_EQ(all.settings.at("create_buckets"), Values{"true"});
  EXPECT_EQ(all.settings.at("isolation"), Values{"process"});
  EXPECT_TRUE(HasFlags(FlagWords(all), FlagWords(given)));
  EmulatorFlags again;
  again.settings = {{"images", {"gcr.io/p/a=other"}}};
  EXPECT_EQ(WithFlags(FlagWords(all), again).settings.at("images"),
            (Values{"gcr.io/p/b=run", "gcr.io/p/a=other"}));
}

}  // namespace
}  // namespace caip::app
