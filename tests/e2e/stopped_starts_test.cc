// A start of an emulator ends at SIGTERM, SIGINT and `caip stop`, whatever it waits for.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "host/process/launcher_lock.h"
#include "host/store/state_directory.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kInterruptedCode = 130;  // docs/exit-codes.md

class StoppedStarts : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(host::StateDirectory::Make(caip_.state()).ok()); }

  // Returns when the program has the file open. Until the process executes it, the process has all
  // files of this one.
  static void AwaitOpen(const RunningCommand& server, const Path& file) {
    const Path descriptors = "/proc/" + std::to_string(server.pid()) + "/fd";
    EXPECT_TRUE(Eventually([&] {
      std::error_code error;
      const Path program = "/proc/" + std::to_string(server.pid()) + "/exe";
      if (std::filesystem::read_symlink(program, error).filename() != "caip") return false;
      const Path wanted = std::filesystem::canonical(file, error);
      for (const auto& entry : std::filesystem::directory_iterator(descriptors, error)) {
        if (std::filesystem::read_symlink(entry.path(), error) == wanted) return true;
      }
      return false;
    })) << server.err();
  }

  // Starts a server that waits for the lock of the launchers, which this process holds.
  RunningCommand StartWithoutLock() {
    auto held = host::LockForLaunchers(caip_.state());
    EXPECT_TRUE(held.ok());
    if (held.ok()) lock_ = *std::move(held);
    RunningCommand server = caip_.Start({"serve", "--port", "0"});
    AwaitOpen(server, caip_.state() / "launcher.lock");
    return server;
  }

  CaipCommand caip_;
  Fd lock_;
};

// Without the interrupt, it would wait for 20 seconds and end with another code.
TEST_F(StoppedStarts, EndAtSignalsWithoutTheLockOfTheLaunchers) {
  for (const int signal : {SIGTERM, SIGINT}) {
    RunningCommand server = StartWithoutLock();
    server.Signal(signal);
    const Transcript transcript = server.End();
    EXPECT_EQ(transcript.exit_code, kInterruptedCode) << transcript.err;
    lock_.Close();
  }
}

TEST_F(StoppedStarts, EndAtCaipStopWithoutTheLockOfTheLaunchers) {
  RunningCommand server = StartWithoutLock();
  const Transcript stopped = caip_.Run({"stop"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("Stopped the emulator of"));
  EXPECT_EQ(server.End().exit_code, kInterruptedCode);
}

// The start waits in the kernel, which looks at no flag.
TEST_F(StoppedStarts, EndAtASignalDuringAReadThatDoesNotEnd) {
  const Path configuration = caip_.state() / "config.yaml";
  ASSERT_EQ(::mkfifo(configuration.c_str(), 0600), 0);
  const Fd writer(::open(configuration.c_str(), O_RDWR | O_CLOEXEC));
  RunningCommand server = caip_.Start({"serve", "--port", "0"});
  AwaitOpen(server, configuration);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.End().exit_code, kInterruptedCode);
}

}  // namespace
}  // namespace caip::testing
