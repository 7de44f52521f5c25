// The commands that replace the images of built-in algorithms.

#include "emulator/app/built_in_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace caip::app {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

constexpr char kTrees[] = "gcr.io/cloud-ml-algos/boosted_trees:latest";

TEST(BuiltInImages, RunThePackageThatTheStateDirectoryHas) {
  const TemporaryDirectory state;
  const BuiltInImages images{state.path(), "", {}, {}};
  const auto command = images.CommandFor(kTrees).value();
  ASSERT_TRUE(command);
  EXPECT_THAT(*command, ElementsAre("python3", EndsWith("/train.py"), "boosted_trees"));
  EXPECT_TRUE(std::filesystem::exists(command->at(1)));
  EXPECT_FALSE(images.CommandFor("gcr.io/p/boosted_trees").value());
  EXPECT_FALSE(images.CommandFor("gcr.io/cloud-ml-algos/unknown").value());
}

TEST(BuiltInImages, RunOnTheInterpreterThatTheUserHasChosen) {
  const TemporaryDirectory state;
  std::filesystem::create_directories(state.path() / "venv/bin");
  ASSERT_TRUE(WriteFile(state.path() / "venv/bin/python3", "").ok());
  const host::Variables active = {{"VIRTUAL_ENV", (state.path() / "venv").string()}};
  const auto python_of = [&](const std::string& python, std::map<std::string, std::string> runtimes,
                             const host::Variables& environment) {
    return BuiltInImages{state.path(), python, std::move(runtimes), environment}
        .CommandFor(kTrees)
        .value()
        ->front();
  };
  EXPECT_EQ(python_of("/opt/python", {{"3.7", "/opt/3.7"}}, active), "/opt/python");
  EXPECT_EQ(python_of("", {{"3.7", "/opt/3.7"}, {"1.15", "/opt/1.15"}}, active), "/opt/1.15");
  EXPECT_EQ(python_of("", {{"3.7", "/opt/3.7"}}, active), "/opt/3.7");
  EXPECT_EQ(python_of("", {{"2.11", "/opt/2.11"}}, active),
            (state.path() / "venv/bin/python3").string());
}

TEST(BuiltInImages, ReportWhatTheInterpreterLacks) {
  const TemporaryDirectory state;
  const Path python = state.path() / "python";
  ASSERT_TRUE(WriteFile(python, "#!/bin/sh\necho numpy xgboost\n").ok());
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const auto facts = BuiltInImages{state.path(), python.string(), {}, {}}.Report();
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].found, host::HostFact::Found::kYes);
  EXPECT_EQ(facts[0].detail, python.string() + " has numpy and xgboost");
  EXPECT_EQ(facts[1].found, host::HostFact::Found::kNo);
  EXPECT_EQ(facts[1].detail, python.string() + " lacks tensorflow");
  EXPECT_FALSE(std::filesystem::exists(state.path() / "algorithms"));
}

TEST(BuiltInImages, ReportAllLibrariesAsMissingWithoutAnInterpreter) {
  const auto facts = BuiltInImages{"/nowhere", "/nowhere/python", {}, {}}.Report();
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].detail, "/nowhere/python lacks numpy and xgboost");
}

}  // namespace
}  // namespace caip::app
