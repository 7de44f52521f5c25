#include "emulator/scenario/run_settings.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace caip::scenario {
namespace {

TEST(RepeatedFlags, AreThoseThatScenarioRunNeeds) {
  app::EmulatorFlags flags;
  EXPECT_EQ(RepeatedFlags(flags), "");
  flags.config = "my settings.yaml";
  flags.settings = {{"python", {"/opt/python3"}},
                    {"strict_images", {"true"}},
                    {"queue_delay", {"constant:20m"}},
                    {"images", {"gcr.io/p/t=python3 t.py"}},
                    {"seed", {"7"}}};
  EXPECT_EQ(RepeatedFlags(flags),
            " --emulator-config 'my settings.yaml' --python /opt/python3 --queue-delay "
            "constant:20m --strict-images");
}

TEST(ScenarioSettings, AreThoseOfTheFlagsOfItsCommand) {
  const TemporaryDirectory scratch;
  app::EmulatorFlags flags;
  flags.state = scratch.path().string();
  flags.settings = {{"storage_view", {"gs"}}, {"seed", {"7"}}};
  harness::Scenario scenario;
  scenario.semantics = harness::Semantics::kPosix;
  scenario.command = {"python3", "t.py"};
  ASSERT_TRUE(ReadSettingsOfScenario(flags, nullptr, scenario).ok());
  EXPECT_EQ(scenario.semantics, harness::Semantics::kObject);
  EXPECT_EQ(scenario.seed, 7u);
  scenario.command.emplace_back("{job_dir}/model");
  const auto refused = ReadSettingsOfScenario(flags, nullptr, scenario);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--storage-view gs"), std::string::npos);
}

// Only a state directory in which runs find something is named.
TEST(RepeatedFlags, NameTheStateDirectoryIfItHasSettings) {
  const TemporaryDirectory scratch;
  for (const char* used : {"config.yaml", "runtimes", "images"}) {
    const Path state = scratch.path() / (std::string("state-") + used);
    const app::EmulatorFlags flags{.state = state.string(), .config = {}};
    ASSERT_TRUE(MakeDirectories(state).ok());
    EXPECT_EQ(RepeatedFlags(flags), "");
    ASSERT_TRUE(MakeDirectories(state / used).ok());
    EXPECT_EQ(RepeatedFlags(flags), " --state " + state.string());
  }
}

}  // namespace
}  // namespace caip::scenario
