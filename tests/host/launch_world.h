#pragma once
// What tests of real replicas share: a launcher on a directory of its own, and records of all it
// says, to be waited for.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "host/process/process_launcher.h"
#include "places.h"

namespace caip::host {

/// Keeps lines; anything may be waited for.
class RecordingSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine> lines) override {
    std::unique_lock lock(mutex_);
    open_.wait(lock, [this] { return is_open_; });
    for (engine::LogLine& line : lines) lines_.push_back(std::move(line));
    open_.notify_all();
  }
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }

  std::vector<engine::LogLine> Lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::vector<std::string> Messages(const std::string& task = "") const {
    std::vector<std::string> messages;
    for (const engine::LogLine& line : Lines()) {
      if (task.empty() || line.task == task) messages.push_back(line.message);
    }
    return messages;
  }
  bool AwaitMessage(const std::string& wanted) {
    std::unique_lock lock(mutex_);
    return open_.wait_for(lock, std::chrono::seconds(30), [&] {
      for (const engine::LogLine& line : lines_) {
        if (line.message.find(wanted) != std::string::npos) return true;
      }
      return false;
    });
  }
  /// A sink that is shut lets Write wait.
  void Shut(bool shut) {
    const std::lock_guard lock(mutex_);
    is_open_ = !shut;
    open_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable open_;
  bool is_open_ = true;
  std::vector<engine::LogLine> lines_;
};

/// This process can open no file as long as it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &limit_);
    const rlimit none{0, limit_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &limit_); }

 private:
  rlimit limit_{};
};

inline Path LauncherProgram() { return Path(CAIP_BINARY_DIR) / "caip-launcher"; }

/// The fields of /proc/PATH/stat after the name: the state, the parent's process ID.
inline std::pair<char, pid_t> StateAndParent(const std::string& path) {
  const auto stat = ReadFile("/proc/" + path + "/stat");
  if (!stat.ok()) return {};
  const std::string fields = stat->substr(stat->rfind(')') + 2);
  return {fields.front(), std::stoi(fields.substr(2))};
}

/// Whether this process is root of the host, and not only of a user namespace.
inline bool IsRootOfHost() {
  constexpr int64_t kAllUsers = 4294967295;
  const auto text = ReadFile("/proc/self/uid_map");
  std::istringstream map(text.ok() ? *text : "");
  int64_t user = -1;
  int64_t on_host = -1;
  int64_t count = 0;
  map >> user >> on_host >> count;
  return ::geteuid() == 0 && user == 0 && on_host == 0 && count == kAllUsers;
}

/// Opens settings of the kernel for writing, which changes nothing, and prints the result of each.
inline constexpr char kOpenSettings[] =
    "for file in sys/vm/swappiness sys/kernel/core_pattern irq/default_smp_affinity"
    " sysrq-trigger sys/net/ipv4/ip_forward; do\n"
    "  if ( : >> /proc/$file ) 2> /dev/null; then echo opens $file; else echo refuses $file; fi\n"
    "done";

/// What kOpenSettings prints on a machine. The kernel lets root of the host change the settings of
/// any network, and another user only with CAP_NET_ADMIN, which replicas do not have.
inline std::vector<std::string> ResultsOfOpeningSettings() {
  return {"refuses sys/vm/swappiness", "refuses sys/kernel/core_pattern",
          "refuses irq/default_smp_affinity", "refuses sysrq-trigger",
          std::string(IsRootOfHost() ? "opens" : "refuses") + " sys/net/ipv4/ip_forward"};
}

inline engine::ReplicaKey AKey(int worker = 0, int boot = 1) {
  return {{"my-project", "census_20260101", ""}, {"worker", worker}, boot};
}

/// sh -c SCRIPT as worker 0.
inline engine::ReplicaLaunch AShell(const std::string& script, engine::ReplicaKey key = AKey()) {
  engine::ReplicaLaunch launch;
  launch.key = std::move(key);
  launch.task = run::Name(launch.key.replica);
  launch.program = run::LocalCommand{{"/bin/sh", "-c", script}};
  launch.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  launch.working_directory = "user_dir";
  return launch;
}

/// Both ways to hold a watched replica at its calls, and their names, for tests of either.
inline const auto kInterpositions =
    ::testing::Values(Interposition::Kind::kSeccomp, Interposition::Kind::kPreload);
inline std::string NameOfInterposition(
    const ::testing::TestParamInfo<Interposition::Kind>& tested) {
  return tested.param == Interposition::Kind::kSeccomp ? "BySeccomp" : "ByPreload";
}

class LaunchWorld {
 public:
  static constexpr auto kNoOomKills = [] { return int64_t{0}; };

  /// `oom_kills`: how many processes the kernel has killed because memory ran out. By default none,
  /// because other tests make it kill theirs.
  explicit LaunchWorld(std::function<int64_t()> oom_kills = {},
                       Interposition::Kind interposition = Interposition::Kind::kSeccomp,
                       bool own_roots = false, uint64_t disk_bytes_max = 0)
      : LaunchWorld(
            ProcessLauncherOptions{.state_directory = {},
                                   .own_roots = own_roots,
                                   .disk_bytes_max = disk_bytes_max,
                                   .oom_kills = oom_kills ? std::move(oom_kills) : kNoOomKills,
                                   .interposition = interposition}) {}
  /// The world sets the program, and the directory if there is none.
  explicit LaunchWorld(ProcessLauncherOptions options) {
    if (options.state_directory.empty()) options.state_directory = state.path();
    options.program = LauncherProgram();
    auto started = ProcessLauncher::Start(std::move(options), clock, sink);
    EXPECT_TRUE(started.ok()) << started.error().message;
    launcher = std::move(started).value();
  }
  ~LaunchWorld() { launcher.reset(); }  // its threads still report to the members below

  void Launch(engine::ReplicaLaunch launch) {
    launcher->Launch(std::move(launch), {[this](const engine::ReplicaKey& key) {
                                           const std::lock_guard lock(mutex_);
                                           started_.push_back(key);
                                           changed_.notify_all();
                                         },
                                         [this](const engine::ReplicaExit& exit) {
                                           const std::lock_guard lock(mutex_);
                                           lines_at_exit_ = sink.Lines().size();
                                           exits_.push_back(exit);
                                           changed_.notify_all();
                                         }});
  }
  engine::ReplicaExit Run(engine::ReplicaLaunch launch) {
    const size_t before = ExitCount();
    Launch(std::move(launch));
    return AwaitExits(before + 1).back();
  }
  std::vector<engine::ReplicaExit> AwaitExits(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return exits_.size() >= count; }))
        << "awaited " << count << " exits, have " << exits_.size();
    if (exits_.empty()) exits_.push_back({});
    return exits_;
  }
  void AwaitStarts(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return started_.size() >= count; }))
        << "awaited " << count << " starts, have " << started_.size();
  }
  size_t ExitCount() {
    const std::lock_guard lock(mutex_);
    return exits_.size();
  }
  size_t StartCount() {
    const std::lock_guard lock(mutex_);
    return started_.size();
  }
  size_t LinesAtExit() {
    const std::lock_guard lock(mutex_);
    return lines_at_exit_;
  }

  TemporaryDirectory state;
  SystemClock clock;
  RecordingSink sink;
  std::unique_ptr<ProcessLauncher> launcher;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<engine::ReplicaKey> started_;
  std::vector<engine::ReplicaExit> exits_;
  size_t lines_at_exit_ = 0;
};

}  // namespace caip::host
