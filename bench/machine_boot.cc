// Start and power-off of a replica at each level of isolation, one at a time, against posix_spawn
// and unshare(1) with the same namespaces in the same run. For an ordinary user, unshare also makes
// a user namespace, which it needs for the others. Goals: a machine with its own files at most 5 ms
// above unshare; the power-off of a machine with 50 processes below 10 ms.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "host/machine/machines.h"
#include "host/process/process_launcher.h"
#include "places.h"

namespace caip::host {
namespace {

using Time = std::chrono::steady_clock;

double MillisecondsSince(Time::time_point begin) {
  return std::chrono::duration<double, std::milli>(Time::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double SpawnOnce(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto begin = Time::now();
  pid_t pid = 0;
  int status = -1;
  if (::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) std::abort();
  ::waitpid(pid, &status, 0);
  if (status != 0) {  // the time of a command that failed would be a wrong figure
    std::fprintf(stderr, "bench_machine_boot: %s failed\n", words[0].c_str());
    std::exit(1);
  }
  return MillisecondsSince(begin);
}

// unshare(1) with the namespaces of a machine. Only root may make them without a user namespace.
std::vector<std::string> UnshareCommand() {
  std::vector<std::string> words = {"unshare"};
  if (::geteuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
  for (const char* word : {"--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "/bin/true"}) {
    words.emplace_back(word);
  }
  return words;
}

class LastLine final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine>) override {
    const std::lock_guard lock(mutex_);
    written_ = true;
    changed_.notify_all();
  }
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
  void Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return std::exchange(written_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool written_ = false;
};

enum class Level { kProcess, kMachine, kMachineWithFiles };

class World {
 public:
  explicit World(Level level) : level_(level) {
    ProcessLauncherOptions options;
    options.state_directory = state_.path();
    options.program = Path(CAIP_BINARY_DIR) / "caip-launcher";
    options.own_roots = level == Level::kMachineWithFiles;
    auto started = ProcessLauncher::Start(std::move(options), clock_, sink_);
    if (!started.ok()) std::abort();
    launcher_ = std::move(started).value();
  }

  double Boot() {
    const auto begin = Time::now();
    Launch({"/bin/true"});
    AwaitEnd();
    return MillisecondsSince(begin);
  }

  double PowerOff() {
    const std::string script = "for i in $(seq 50); do sleep 600 & done; echo ready; wait";
    const engine::ReplicaKey key = Launch({"/bin/sh", "-c", script});
    sink_.Await();
    const auto begin = Time::now();
    launcher_->Kill(key);
    AwaitEnd();
    return MillisecondsSince(begin);
  }

 private:
  engine::ReplicaKey Launch(std::vector<std::string> words) {
    engine::ReplicaLaunch launch;
    launch.key = {{"p", "bench", ""}, {"worker", 0}, ++boots_};
    launch.program = run::LocalCommand{std::move(words)};
    launch.environment = {{"PATH", "/usr/bin:/bin"}};
    launch.working_directory = "user_dir";
    launch.machine.host_name = "bench";
    if (level_ != Level::kProcess) {
      launch.isolation = engine::ReplicaIsolation{network_, "10.128.0.2", "127.0.0.1 localhost\n"};
    }
    const engine::ReplicaKey key = launch.key;
    ended_ = false;
    launcher_->Launch(std::move(launch), {nullptr, [this](const engine::ReplicaExit& exit) {
                                            if (!exit.start_error.empty()) {
                                              std::fprintf(stderr, "%s\n",
                                                           exit.start_error.c_str());
                                              std::exit(1);
                                            }
                                            const std::lock_guard lock(mutex_);
                                            ended_ = true;
                                            changed_.notify_all();
                                          }});
    return key;
  }

  void AwaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }

  const Level level_;
  TemporaryDirectory state_;
  SystemClock clock_;
  LastLine sink_;
  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "metadata"}}});
  int boots_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::unique_ptr<ProcessLauncher> launcher_;  // last: it calls us
};

int Run(int rounds) {
  const std::vector<std::string> bare = {"/bin/true"};
  const std::vector<std::string> unshared = UnshareCommand();
  World process(Level::kProcess);
  World machine(Level::kMachine);
  World files(Level::kMachineWithFiles);
  std::vector<double> times[8];
  for (int i = 0; i < rounds; ++i) {  // interleaved, so that a noisy moment hits all alike
    times[0].push_back(SpawnOnce(bare));
    times[1].push_back(SpawnOnce(unshared));
    times[2].push_back(process.Boot());
    times[3].push_back(machine.Boot());
    times[4].push_back(files.Boot());
    if (i % 10 != 0) continue;
    times[5].push_back(process.PowerOff());
    times[6].push_back(machine.PowerOff());
    times[7].push_back(files.PowerOff());
  }
  const double base = Median(times[1]);
  std::printf("start and end of /bin/true, medians of %d: posix_spawn %.2f ms, unshare %.2f ms\n",
              rounds, Median(times[0]), base);
  std::printf("process %.2f ms, machine with the host's files %.2f ms\n", Median(times[2]),
              Median(times[3]));
  std::printf("machine with its own files %.2f ms, above unshare %.2f ms (goal 5)\n",
              Median(times[4]), Median(times[4]) - base);
  std::printf(
      "power-off of 50 processes: process %.2f ms, machine %.2f ms, with its own files %.2f "
      "ms (goal 10)\n",
      Median(times[5]), Median(times[6]), Median(times[7]));
  return 0;
}

}  // namespace
}  // namespace caip::host

int main(int argc, char** argv) { return caip::host::Run(argc > 1 ? std::atoi(argv[1]) : 200); }
