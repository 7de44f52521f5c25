// Start and end of /bin/true in an image of busybox, one at a time: caip's own machines with a warm
// store, against `crun run`, `podman run` and `docker run` where they work, in the same run; and
// the memory of 200 such replicas that are alive at once. Goals: at most 20 ms above crun; at most
// 2 GiB above what the programs use. Arguments: rounds (default 50), replicas (default 200).
//
// crun refuses hosts with both kinds of control groups. There, run it without the second kind:
//   unshare -m sh -c 'umount /sys/fs/cgroup/unified; build/release/bench_image_boot'

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/process/process_launcher.h"
#include "places.h"

namespace caip::host {
namespace {

using Time = std::chrono::steady_clock;
using Words = std::vector<std::string>;

double MillisecondsSince(Time::time_point begin) {
  return std::chrono::duration<double, std::milli>(Time::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

bool Succeeds(const Words& argv) {
  const auto done = CaptureTool({.argv = argv, .environment = OwnEnvironment()});
  return done.ok() && done->result.ok();
}

/// The files of the image, and what crun needs to run it.
class Busybox {
 public:
  Busybox() {
    for (const char* place : {"bin", "etc", "proc", "dev", "sys", "tmp"}) {
      if (!MakeDirectories(root() / place).ok()) std::abort();
    }
    std::filesystem::copy_file("/bin/busybox", root() / "bin/busybox");
    for (const char* name : {"true", "sh", "sleep"}) {
      std::filesystem::create_symlink("busybox", root() / "bin" / name);
    }
    (void)Succeeds({"crun", "spec", "--bundle", directory_.path().string()});
    const auto text = ReadFile(directory_.path() / "config.json");
    if (text.ok()) WriteConfig(*ParseJson(*text));
  }
  Path root() const { return directory_.path() / "rootfs"; }
  const Path& bundle() const { return directory_.path(); }

 private:
  // Without limits and control groups, which only some hosts allow and a machine does not have.
  void WriteConfig(Json config) {
    config["process"]["terminal"] = false;
    config["process"]["args"] = {"/bin/true"};
    config["process"].erase("rlimits");
    config["linux"].erase("resources");
    Json mounts = Json::array();
    for (const Json& mount : config["mounts"]) {
      if (StringOr(mount, "type") != "cgroup") mounts.push_back(mount);
    }
    config["mounts"] = mounts;
    if (!WriteFile(directory_.path() / "config.json", CompactJson(config)).ok()) std::abort();
  }

  TemporaryDirectory directory_{"caip-bench-"};
};

class SilentSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine>) override {}
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
};

class Replicas {
 public:
  explicit Replicas(const Path& layer) {
    ProcessLauncherOptions options;
    options.state_directory = state_.path();
    options.program = Path(CAIP_BINARY_DIR) / "caip-launcher";
    options.own_roots = true;
    auto started = ProcessLauncher::Start(std::move(options), clock_, sink_);
    if (!started.ok()) std::abort();
    launcher_ = std::move(started).value();
    image_.layers = {layer.string()};
  }

  double Boot() {
    const auto begin = Time::now();
    Launch(0, {"/bin/true"});
    Await(0);
    return MillisecondsSince(begin);
  }
  void LaunchSleepers(int count) {
    for (int i = 0; i < count; ++i) keys_.push_back(Launch(i, {"/bin/sleep", "600"}));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_ == boots_; });
  }
  void KillAll() {
    for (const engine::ReplicaKey& key : keys_) launcher_->Kill(key);
    Await(0);
  }

 private:
  engine::ReplicaKey Launch(int index, Words words) {
    engine::ReplicaLaunch launch;
    launch.key = {{"p", "bench", ""}, {"worker", index}, ++boots_};
    launch.program = run::LocalCommand{std::move(words)};
    launch.environment = {{"PATH", "/bin"}};
    launch.machine.host_name = "bench";
    launch.image = std::make_shared<engine::PreparedImage>(image_);
    const std::string address =
        "10.128." + std::to_string(index / 200) + "." + std::to_string(2 + index % 200);
    launch.isolation = engine::ReplicaIsolation{network_, address, "127.0.0.1 localhost\n"};
    const engine::ReplicaKey key = launch.key;
    {
      const std::lock_guard lock(mutex_);
      ++alive_;
    }
    launcher_->Launch(std::move(launch), {[this](const engine::ReplicaKey&) { Count(started_, 1); },
                                          [this](const engine::ReplicaExit& exit) {
                                            if (!exit.start_error.empty()) {
                                              std::fprintf(stderr, "%s\n",
                                                           exit.start_error.c_str());
                                              std::exit(1);
                                            }
                                            Count(alive_, -1);
                                          }});
    return key;
  }
  void Count(int& counter, int by) {
    const std::lock_guard lock(mutex_);
    counter += by;
    changed_.notify_all();
  }
  void Await(int alive) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return alive_ == alive; });
  }

  TemporaryDirectory state_;
  SystemClock clock_;
  SilentSink sink_;
  engine::PreparedImage image_;
  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "metadata"}}});
  std::vector<engine::ReplicaKey> keys_;
  int boots_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int alive_ = 0;
  int started_ = 0;
  std::unique_ptr<ProcessLauncher> launcher_;  // last: it calls us
};

double SpawnOnce(const Words& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto begin = Time::now();
  pid_t pid = 0;
  if (::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) std::abort();
  ::waitpid(pid, nullptr, 0);
  return MillisecondsSince(begin);
}

struct Rival {
  std::string name;
  Words words;
  std::vector<double> times = {};
};

// Those that run a program here.
std::vector<Rival> FindRivals(const Busybox& image) {
  const std::string root = image.root().string();
  const std::string archive = (image.bundle() / "root.tar").string();
  (void)(Succeeds({"tar", "-C", root, "-cf", archive, "."}) &&
         Succeeds({"docker", "import", archive, "caip-bench"}));
  std::vector<Rival> found;
  for (Rival& rival : std::vector<Rival>{
           {"crun", {"crun", "--cgroup-manager=disabled", "run", "--bundle", image.bundle(), "b"}},
           {"runc", {"runc", "run", "--bundle", image.bundle(), "caip-bench"}},
           {"podman",
            {"podman", "run", "--rm", "--network=host", "--ulimit=nofile=1024:1024",
             "--ulimit=nproc=512:512", "--rootfs", root, "/bin/true"}},
           {"docker", {"docker", "run", "--rm", "--network=host", "caip-bench", "/bin/true"}}}) {
    if (Succeeds(rival.words)) {
      found.push_back(std::move(rival));
    } else {
      std::printf("%s does not work here\n", rival.name.c_str());
    }
  }
  return found;
}

double MebibytesAvailable() {
  const auto text = ReadFile("/proc/meminfo");
  const size_t at = text.ok() ? text->find("MemAvailable:") : std::string::npos;
  return at == std::string::npos ? 0 : std::atof(text->c_str() + at + 13) / 1024;
}

int Run(int rounds, int count) {
  const Busybox image;
  std::vector<Rival> rivals = FindRivals(image);
  Replicas replicas(image.root());
  std::vector<double> bundled;
  for (int i = 0; i < rounds; ++i) {  // interleaved, so that a noisy moment hits all alike
    bundled.push_back(replicas.Boot());
    for (Rival& rival : rivals) rival.times.push_back(SpawnOnce(rival.words));
  }
  std::printf("start and end of /bin/true in an image, medians of %d: bundled %.1f ms", rounds,
              Median(bundled));
  for (const Rival& rival : rivals) {
    std::printf(", %s %.1f ms", rival.name.c_str(), Median(rival.times));
  }
  std::printf("\ngoal: at most 20 ms above crun\n");
  const double before = MebibytesAvailable();
  const auto begin = Time::now();
  replicas.LaunchSleepers(count);
  std::printf("%d replicas alive after %.0f ms, %.0f MiB less memory (goal 2048)\n", count,
              MillisecondsSince(begin), before - MebibytesAvailable());
  const auto killed = Time::now();
  replicas.KillAll();
  std::printf("all of them off after %.0f ms\n", MillisecondsSince(killed));
  return 0;
}

}  // namespace
}  // namespace caip::host

int main(int argc, char** argv) {
  return caip::host::Run(argc > 1 ? std::atoi(argv[1]) : 50, argc > 2 ? std::atoi(argv[2]) : 200);
}
