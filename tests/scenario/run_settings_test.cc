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

TEST(ScenarioSettings, HideTheStateDirectoriesOfTheWordsAndOfTheCommand) {
  const TemporaryDirectory scratch;
  const Path own = std::filesystem::canonical(scratch.path()) / "own";
  const Path of_words = own.parent_path() / "words";
  ::setenv("CAIP_STATE", own.c_str(), /*overwrite=*/1);
  harness::Scenario scenario;
  scenario.words = {"--state", "words"};
  const auto read = [&](const harness::JobKind&, const std::vector<std::string>&) {
    JobWords words;
    words.emulator.state = of_words.string();
    return Result<JobWords>(std::move(words));
  };
  auto settings = ReadSettingsOfScenario({}, read, scenario);
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->options.outer_states, (std::vector<Path>{of_words, own}));
  settings = ReadSettingsOfScenario({.state = own.string(), .config = {}}, read, scenario);
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->options.outer_states, (std::vector<Path>{own}));
}

// The scenario's own addressing counts without a flag.
TEST(ScenarioSettings, AFlagOverridesTheAddressingOfTheFile) {
  const TemporaryDirectory scratch;
  const std::string state = scratch.path().string();
  struct Case {
    const char* flag;  // null: none
    bool in_file;
    bool in_run;
  };
  for (const Case& one :
       {Case{"loopback", true, false}, Case{"ports", false, true}, Case{"ports", true, true},
        Case{nullptr, true, true}, Case{nullptr, false, false}}) {
    app::EmulatorFlags flags{.state = state, .config = {}};
    if (one.flag) flags.settings = {{"addressing", {one.flag}}};
    harness::Scenario scenario;
    scenario.own_ports = one.in_file;
    const auto settings = ReadSettingsOfScenario(flags, nullptr, scenario);
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_EQ(scenario.own_ports, one.in_run) << (one.flag ? one.flag : "no flag");
  }
}

TEST(ScenarioSettings, PortsAndMachinesAreRefused) {
  const TemporaryDirectory scratch;
  app::EmulatorFlags flags{.state = scratch.path().string(), .config = {}};
  flags.settings = {{"isolation", {"machine"}}};
  harness::Scenario scenario;
  scenario.own_ports = true;
  const auto refused = ReadSettingsOfScenario(flags, nullptr, scenario);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--isolation machine"), std::string::npos);
  flags.settings["addressing"] = {"loopback"};
  EXPECT_TRUE(ReadSettingsOfScenario(flags, nullptr, scenario).ok());
  flags.settings = {{"isolation", {"process"}}};
  scenario.own_ports = true;
  EXPECT_TRUE(ReadSettingsOfScenario(flags, nullptr, scenario).ok());
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
