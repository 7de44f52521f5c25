// Containers of podman and docker after the emulator and one of its helper processes were killed
// by SIGKILL. No other emulator starts.

#include <gtest/gtest.h>
#include <signal.h>

#include "base/text.h"
#include "tests/support/caip_command.h"
#include "tests/support/engine_on_trial.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

/// A docker whose containers are files, which remain when a client is killed.
class StandInOnTrial final : public EngineOnTrial {
 public:
  std::string Start(const Path&) override {
    EXPECT_TRUE(MakeDirectories(Made()).ok());
    const std::string script =
        "#!/bin/sh\ncd '" + Made().string() +
        "' || exit 1\n"
        "case $1 in\n"
        "run) for word; do case $word in --name=*) touch \"${word#--name=}\";; esac; done\n"
        "  exec sleep 1000;;\n"
        "rm) rm -f \"$3\";;\n"
        "ps) ls;;\n"
        "image) ;;\n"
        "*) exit 1;;\n"
        "esac\n";
    EXPECT_TRUE(WriteFile(directory() / "docker", script).ok());
    std::filesystem::permissions(directory() / "docker", std::filesystem::perms(0755));
    return "";
  }
  Settings Environment() const override {
    const auto path = host::FindVariable(host::OwnEnvironment(), "PATH");
    return {{"PATH", directory().string() + ":" + path.value_or("/usr/bin:/bin")}};
  }
  std::string Containers() const override { return Ask({"docker", "ps"}).out; }

 private:
  Path Made() const { return directory() / "containers"; }
};

struct KilledProcesses {
  const char* name;
  std::vector<std::string> helpers;  // that are killed with the emulator
};

std::ostream& operator<<(std::ostream& out, const KilledProcesses& killed) {
  return out << killed.name;
}

using Killed = std::tuple<std::string, KilledProcesses>;

std::string NameOfProcess(int process) {
  const auto name = ReadFile("/proc/" + std::to_string(process) + "/comm");
  return name.ok() ? std::string(Trim(*name)) : "";
}

int ParentOf(int process) {
  const auto stat = ReadFile("/proc/" + std::to_string(process) + "/stat");
  return stat.ok() ? std::stoi(stat->substr(stat->rfind(')') + 4)) : 0;
}

std::vector<int> ProcessesOfHost() {
  std::vector<int> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int process = std::atoi(entry.path().filename().c_str());
    if (process > 0) processes.push_back(process);
  }
  return processes;
}

class KilledEngines : public ::testing::TestWithParam<Killed> {
 protected:
  void SetUp() override {
    const std::string& engine = std::get<0>(GetParam());
    const TemporaryDirectory base("caip-layer-");
    WriteBusybox(base.path());
    for (const char* place : {"proc", "dev", "sys", "tmp"}) {
      ASSERT_TRUE(MakeDirectories(base.path() / place).ok());
    }
    engine_ = engine == "stand_in" ? std::make_unique<StandInOnTrial>() : MakeTrial(engine);
    const std::string why_not = engine_->Start(base.path());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    for (const auto& [name, value] : engine_->Environment()) caip_.Set(name, value);
    layout_.AddLayer(base.path());
    layout_.Finish({{"Entrypoint", {"/bin/busybox", "sleep", "1000"}}});
  }
  void SubmitAndAwaitContainer() const {
    const std::string image = "gcr.io/demo/trainer:v1";
    const std::string& engine = std::get<0>(GetParam());
    const Transcript run = caip_.Run(
        {"jobs", "submit", "training", "job", "--region", "us-central1", "--master-image-uri",
         image, "--container-engine", engine == "stand_in" ? "docker" : engine, "--map-image",
         image + "=oci:" + layout_.Directory().string(), "--async"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    ASSERT_TRUE(Eventually([this] { return !engine_->Containers().empty(); }, 60))
        << "awaited a container";
  }
  /// The emulator, its launcher and the inits of its replicas.
  std::vector<int> ProcessesOfEmulator() const {
    std::vector<int> found = EmulatorsOn(caip_.state());
    for (size_t i = 0; i < found.size(); ++i) {
      for (const int process : ProcessesOfHost()) {
        const bool is_helper = NameOfProcess(process).starts_with("caip-");
        if (is_helper && ParentOf(process) == found[i]) found.push_back(process);
      }
    }
    return found;
  }

  std::unique_ptr<EngineOnTrial> engine_;  // ends last
  CaipCommand caip_;
  OciLayout layout_;
};

TEST_P(KilledEngines, LeaveNoContainer) {
  ASSERT_NO_FATAL_FAILURE(SubmitAndAwaitContainer());
  const auto& helpers = std::get<1>(GetParam()).helpers;
  std::vector<int> killed = EmulatorsOn(caip_.state());
  EXPECT_FALSE(killed.empty());
  for (const int process : ProcessesOfEmulator()) {
    const std::string name = NameOfProcess(process);
    if (std::find(helpers.begin(), helpers.end(), name) != helpers.end()) killed.push_back(process);
  }
  EXPECT_GT(killed.size(), helpers.size());
  // so that none of them acts when another one has ended
  for (const int process : killed) ::kill(process, SIGSTOP);
  for (const int process : killed) ::kill(process, SIGKILL);
  EXPECT_TRUE(Eventually([this] { return engine_->Containers().empty(); }))
      << "these containers are left: " << engine_->Containers();
}

INSTANTIATE_TEST_SUITE_P(
    Each, KilledEngines,
    ::testing::Combine(::testing::Values("stand_in", "docker", "podman"),
                       ::testing::Values(KilledProcesses{"Emulator", {}},
                                         KilledProcesses{"EmulatorAndLauncher", {"caip-launcher"}},
                                         KilledProcesses{"EmulatorAndInit", {"caip-replica"}})),
    [](const auto& killed) { return std::get<0>(killed.param) + std::get<1>(killed.param).name; });

}  // namespace
}  // namespace caip::testing
