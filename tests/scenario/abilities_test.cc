#include "emulator/scenario/abilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/json.h"
#include "harness/scenario/scenario.h"
#include "host/process/child_process.h"

namespace caip::scenario {
namespace {

using ::testing::HasSubstr;

std::string SystemPython() { return host::FindProgram("python3", "/usr/local/bin:/usr/bin:/bin"); }

// A launcher with every ability, of which tests take some away.
class AbleLauncher final : public engine::LocalDisks,
                           public host::Freezable,
                           public host::Watchable {
 public:
  std::string BootDisk(const engine::ReplicaKey&) const override { return "/disk"; }
  void Freeze(const engine::ReplicaKey&, std::function<void()> frozen) override { frozen(); }
  void Thaw(const engine::ReplicaKey&) override {}
  void Watch(host::ReplicaWatch, host::ReplicaWatcher&) override {}
};

class LauncherAbilities : public ::testing::Test {
 protected:
  LauncherAbilities() {
    replicas_.name = "far";
    replicas_.disks = &launcher_;
    replicas_.freezable = &launcher_;
    replicas_.watchable = &launcher_;
  }
  static harness::Scenario AScenario(const std::string& faults) {
    auto scenario = harness::ReadScenarioText(
        "description: d\ntrainer: {command: [python3, t.py]}\n" + faults, "s.yaml");
    EXPECT_TRUE(scenario.ok()) << scenario.error().message;
    return *std::move(scenario);
  }
  static harness::Scenario ThatHangsAReplica() {
    return AScenario("faults:\n  - hang: {replica: master, for: 2s}\n    when: {at: 90s}\n");
  }

  AbleLauncher launcher_;
  host::LauncherBundle replicas_;
};

TEST_F(LauncherAbilities, AreCompleteInALauncherThatCanDoEverything) {
  EXPECT_TRUE(CheckAbilities(ThatHangsAReplica(), replicas_).ok());
}

TEST(MissingModules, AreNamed) {
  harness::Scenario scenario;
  scenario.command = {"python3", "t.py"};
  EXPECT_EQ(DescribeMissingModules(scenario, ""), "");
  scenario.modules = {"json", "os"};
  EXPECT_EQ(DescribeMissingModules(scenario, ""), "");
  scenario.modules = {"json", "caip_missing_a", "caip_missing_b"};
  EXPECT_EQ(DescribeMissingModules(scenario, ""),
            "'python3' lacks the modules: caip_missing_a, caip_missing_b");
}

TEST(MissingModules, MayBelongToAPackageThatIsMissing) {
  harness::Scenario scenario;
  scenario.modules = {"caip_missing.part", "json.decoder"};
  EXPECT_EQ(DescribeMissingModules(scenario, ""), "'python3' lacks the modules: caip_missing.part");
}

TEST(MissingModules, OfAPackageAreThoseOfItsRuntimeVersion) {
  app::EmulatorOptions options;
  options.runtimes = {{"2.11", "/usr/bin/env"}};  // answers as no interpreter does
  const Json package = {{"pythonModule", "trainer.task"}, {"runtimeVersion", "2.11"}};
  EXPECT_EQ(PythonOfPackage(harness::TrainingJobs(), package, options), "");
  options.runtimes = {{"2.11", SystemPython()}};
  EXPECT_EQ(PythonOfPackage(harness::TrainingJobs(), package, options), SystemPython());
  EXPECT_EQ(PythonOfPackage(harness::TrainingJobs(), {{"runtimeVersion", "2.11"}}, options), "");

  harness::Scenario scenario;
  scenario.modules = {"caip_missing"};
  EXPECT_EQ(DescribeMissingModules(scenario, SystemPython()),
            "'" + SystemPython() + "' lacks the modules: caip_missing");
}

// A host whose nvidia-smi lists one GPU, and what is visible of it. Where there are real ones,
// those count instead.
class MissingGpus : public ::testing::Test {
 protected:
  MissingGpus() : path_(ValueOf("PATH")), visible_(ValueOf("CUDA_VISIBLE_DEVICES")) {
    const Path program = bin_.path() / "nvidia-smi";
    EXPECT_TRUE(WriteFile(program,
                          "#!/bin/sh\n"
                          "case $1 in --query-gpu*) echo '0, GPU-a, Tesla T4, 15360, 1:0';; esac\n")
                    .ok());
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    Set("PATH", bin_.path().string() + ":/usr/bin:/bin");
    Set("CUDA_VISIBLE_DEVICES", std::nullopt);
  }
  ~MissingGpus() override {
    Set("PATH", path_);
    Set("CUDA_VISIBLE_DEVICES", visible_);
  }
  static std::optional<std::string> ValueOf(const char* name) {
    return host::FindVariable(host::OwnEnvironment(), name);
  }
  static void Set(const char* name, const std::optional<std::string>& value) {
    value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  std::string Of(int64_t gpus) const {
    harness::Scenario scenario;
    scenario.gpus = gpus;
    return DescribeMissingGpus(scenario, options_);
  }

  TemporaryDirectory bin_;
  std::optional<std::string> path_;
  std::optional<std::string> visible_;
  app::EmulatorOptions options_;
};

TEST_F(MissingGpus, AreCounted) {
  EXPECT_EQ(Of(0), "");
  EXPECT_EQ(Of(1), "");
  EXPECT_THAT(Of(1000), HasSubstr("it needs 1000 GPUs, and this host has only "));
}

TEST_F(MissingGpus, IncludeThoseThatTheStarterOfCaipHidesFromIt) {
  Set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(Of(0), "");
  EXPECT_EQ(Of(1), "it needs a GPU, and this host has none");
}

TEST_F(MissingGpus, AreNotReplacedByFakeOnes) {
  options_.fake_gpus = "4xNVIDIA_TESLA_T4";
  EXPECT_EQ(Of(1), "it needs a GPU, and no program can compute on fake GPUs");
  EXPECT_EQ(Of(0), "");
}

TEST_F(MissingGpus, AreAllIfJobsGetNone) {
  options_.gpus = app::GpuMode::kCpu;
  EXPECT_EQ(Of(2), "it needs 2 GPUs, and --gpus cpu gives jobs none");
}

TEST_F(LauncherAbilities, IncludeStoppingForAFaultThatHangsAReplica) {
  replicas_.freezable = nullptr;
  const Status checked = CheckAbilities(ThatHangsAReplica(), replicas_);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, Code::kUnimplemented);
  EXPECT_EQ(checked.error().message,
            "The launcher 'far' cannot stop a replica in mid-step, which this scenario needs.");
  EXPECT_TRUE(CheckAbilities(AScenario(""), replicas_).ok());
}

TEST_F(LauncherAbilities, IncludeStoppingAtSystemCallsForEveryScenario) {
  replicas_.watchable = nullptr;
  const Status checked = CheckAbilities(AScenario(""), replicas_);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("stop replicas at their system calls"));
}

TEST_F(LauncherAbilities, IncludeBootDisksForEveryScenario) {
  replicas_.disks = nullptr;
  const Status checked = CheckAbilities(AScenario(""), replicas_);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("boot disks in directories of this host"));
}

}  // namespace
}  // namespace caip::scenario
