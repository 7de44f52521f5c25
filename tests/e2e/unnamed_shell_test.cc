// `caip jobs shell` without a command, in images that have no bash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "host/machine/machines.h"
#include "host/process/child_process.h"
#include "places.h"
#include "tests/support/caip_command.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kWaitingImage[] = "gcr.io/demo/waiting:v1";

class UnnamedShell : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "a process with a second thread cannot enter a user namespace";
#endif
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }
  void TearDown() override { (void)caip_.Run({"jobs", "cancel", "waits"}); }

  /// Starts a job that waits, from an image with the files of `base`.
  void Begin(const Path& base, const Json& entrypoint) {
    layout_.AddLayer(base);
    layout_.Finish({{"Entrypoint", entrypoint}, {"Env", {"PATH=/usr/bin:/bin"}}});
    const std::string mapping = std::string(kWaitingImage) + "=oci:" + layout_.Directory().string();
    const Transcript run =
        caip_.Run({"jobs", "submit", "training", "waits", "--region", "us-central1",
                   "--master-image-uri", kWaitingImage, "--map-image", mapping});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  /// Runs a shell that reads the text.
  Transcript Shell(const std::string& text) const {
    std::vector<std::string> argv = {"sh", "-c", "text=$1; shift; echo \"$text\" | \"$@\"", "sh",
                                     text};
    const std::vector<std::string> caip = caip_.Argv({"jobs", "shell", "waits"});
    argv.insert(argv.end(), caip.begin(), caip.end());
    auto output = host::CaptureTool(
        {.argv = argv, .environment = host::OwnEnvironment(), .timeout = std::chrono::minutes(1)});
    if (!output.ok()) return {-1, "", output.error().message};
    return {output->result.ShellStatus(), output->out, output->err};
  }

  CaipCommand caip_;
  OciLayout layout_;
};

// busybox runs the applet that argv[0] names, and has none of the name bash.
TEST_F(UnnamedShell, IsTheShOfBusybox) {
  const TemporaryDirectory base("caip-layer-");
  WriteBusybox(base.path());
  Begin(base.path(), {"/bin/sleep", "600"});
  Transcript shell;
  EXPECT_TRUE(Eventually([&] {
    shell = Shell("echo \"the name is $0\"; exit 3");
    return shell.exit_code == 3;
  })) << "awaited a shell in the replica: "
      << shell.err;
  EXPECT_EQ(shell.out, "the name is sh\n");
}

TEST_F(UnnamedShell, IsAnyShOfThePath) {
  const TemporaryDirectory base("caip-layer-");
  WriteBusybox(base.path());
  std::filesystem::remove(base.path() / "bin/sh");
  ASSERT_TRUE(MakeDirectories(base.path() / "usr/bin").ok());
  std::filesystem::create_symlink("/bin/busybox", base.path() / "usr/bin/sh");
  Begin(base.path(), {"/bin/sleep", "600"});
  Transcript shell;
  EXPECT_TRUE(Eventually([&] {
    shell = Shell("exit 3");
    return shell.exit_code == 3;
  })) << "awaited a shell in the replica: "
      << shell.err;
}

TEST_F(UnnamedShell, IsRefusedWithTheNamesOfBothWhereNeitherExists) {
  const TemporaryDirectory base("caip-layer-");
  std::filesystem::copy_file("/bin/busybox", base.path() / "sleep");
  Begin(base.path(), {"/sleep", "600"});
  Transcript shell;
  EXPECT_TRUE(Eventually([&] {
    shell = Shell("exit 3");
    return shell.err.find("cannot run") != std::string::npos;
  })) << "waited for a refusal of the shell: "
      << shell.err;
  EXPECT_THAT(shell.err, HasSubstr("cannot run 'bash' or 'sh': No such file or directory"));
  EXPECT_EQ(shell.exit_code, 1);
}

}  // namespace
}  // namespace caip::testing
