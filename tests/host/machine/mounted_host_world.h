#pragma once
// What tests share whose host has file systems of its own at directories such as /var. Each test
// makes such a host for a child process, in a mount namespace.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {

/// The exit status of a child process that could not make the host of its test.
inline constexpr int kNoHost = 77;

/// The user who runs caip. Root of a user namespace has no rights over the host.
enum class User { kRoot, kRootOfNamespace };

/// Makes this process root of its new user namespace.
inline bool MapToRoot(uid_t user, gid_t group) {
  const auto write = [](const char* file, const std::string& text) {
    return WriteAll(Fd(::open(file, O_WRONLY | O_CLOEXEC)).get(), text);
  };
  return write("/proc/self/setgroups", "deny") &&
         write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
         write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
}

/// Enters a mount namespace, as root of a user namespace if that is the user.
inline bool EnterHost(User user) {
  const uid_t id = ::geteuid();
  const gid_t group = ::getegid();
  const int kinds = user == User::kRoot ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
  if (::unshare(kinds) != 0) return false;
  if (user == User::kRootOfNamespace && !MapToRoot(id, group)) return false;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Makes a mount of a directory, with all that is mounted in it.
inline bool MountOnItself(const char* directory) {
  return ::mount(directory, directory, nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

/// Mounts an empty file system at a directory.
inline bool MountMemory(const char* directory) {
  return ::mount("tmpfs", directory, "tmpfs", 0, "mode=755") == 0;
}

/// Makes so many files that the machine of a user has an overlay of the directory.
inline bool MakeManyFiles(const Path& directory) {
  bool made = MakeDirectories(directory).ok();
  for (int i = 0; i < 20; ++i) made &= WriteFile(directory / std::to_string(i), "").ok();
  return made;
}

/// Whether replicas can have machines on the host that this process is in.
inline bool HasMachines() {
  const TemporaryDirectory state;
  return !TryMachine(LauncherProgram(), state.path());
}

/// The tests of these hosts run for both users (mounted_host_test.cc).
class MountedHost : public ::testing::TestWithParam<User> {
 protected:
  /// Calls both in a child process. `make_host` answers whether the host is as wanted.
  static void OnHost(const std::function<bool()>& make_host, const std::function<void()>& test) {
    if (GetParam() == User::kRoot && !IsRootOfHost()) GTEST_SKIP() << "needs root";
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      int result = kNoHost;
      if (EnterHost(GetParam()) && HasMachines() && make_host()) {
        test();
        result = HasFailure() ? 1 : 0;
      }
      std::fflush(nullptr);
      ::_exit(result);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoHost) GTEST_SKIP() << "there can be no such host here";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the failure of the child process is above";
  }

  static engine::ReplicaLaunch OnMachine(const std::string& script, int boot = 1) {
    auto launch = AShell(script, AKey(0, boot));
    launch.machine.host_name = "host-0";
    launch.user_directories = {"root", "tmp", "var/hypertune"};
    launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(),
                                                "10.128.0.2", "127.0.0.1 localhost\n"};
    return launch;
  }

  static std::vector<std::string> Output(LaunchWorld& world, engine::ReplicaLaunch launch) {
    const size_t before = world.sink.Messages().size();
    EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
    auto messages = world.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
};

}  // namespace caip::host
