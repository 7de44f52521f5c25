// Compares replicas launched in a second with posix_spawn of the same program in the same run, in a
// small emulator and in one that holds 1 GiB. Goal: a ratio of at least 0.5.

#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "host/process/process_launcher.h"
#include "places.h"

namespace caip::host {
namespace {

constexpr int kAtOnce = 16;

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// posix_spawn of /bin/true, `kAtOnce` alive at a time, as in the other measurement.
double Spawns(int count) {
  const auto begin = std::chrono::steady_clock::now();
  char* const argv[] = {const_cast<char*>("/bin/true"), nullptr};
  char* const environment[] = {const_cast<char*>("A=1"), nullptr};
  int living = 0;
  for (int i = 0; i < count; ++i) {
    if (living == kAtOnce) {
      ::wait(nullptr);
      --living;
    }
    pid_t pid;
    if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv, environment) == 0) ++living;
  }
  while (living-- > 0) ::wait(nullptr);
  return count / Seconds(std::chrono::steady_clock::now() - begin);
}

class NoSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine>) override {}
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
};

/// Complete replicas: a new boot disk, two pipes, an init, and the end reported after the output.
double Launches(engine::Launcher& launcher, int count) {
  std::mutex mutex;
  std::condition_variable changed;
  int living = 0;
  int boots = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (boots < count || living > 0) {
    if (boots == count || living == kAtOnce) {
      changed.wait(lock);
      continue;
    }
    engine::ReplicaLaunch launch;
    launch.key = {{"p", "bench", ""}, {"worker", boots}, 1};
    launch.program = run::LocalCommand{{"/bin/true"}};
    launch.environment = {{"A", "1"}};
    ++boots;
    ++living;
    launcher.Launch(std::move(launch), {nullptr, [&](const engine::ReplicaExit& exit) {
                                          if (exit.exit_code != 0 || !exit.start_error.empty())
                                            std::abort();
                                          const std::lock_guard inner(mutex);
                                          --living;
                                          changed.notify_all();
                                        }});
  }
  return count / Seconds(std::chrono::steady_clock::now() - begin);
}

int Run(int count) {
  TemporaryDirectory state;
  SystemClock clock;
  NoSink sink;
  auto launcher = ProcessLauncher::Start(
      {state.path(), Path(CAIP_BINARY_DIR) / "caip-launcher", {}}, clock, sink);
  if (!launcher.ok()) {
    std::fprintf(stderr, "%s\n", launcher.error().message.c_str());
    return 1;
  }
  std::vector<char> ballast;
  for (const size_t gibibytes : {0, 1}) {
    ballast.assign(gibibytes << 30, 'x');  // written to, so that it is resident
    const double spawns = Spawns(count);
    const double launches = Launches(**launcher, count);
    std::printf("%zu GiB resident: posix_spawn %.0f/s, replicas %.0f/s, ratio %.2f (goal 0.50)\n",
                gibibytes, spawns, launches, launches / spawns);
  }
  return 0;
}

}  // namespace
}  // namespace caip::host

int main(int argc, char** argv) { return caip::host::Run(argc > 1 ? std::atoi(argv[1]) : 1000); }
