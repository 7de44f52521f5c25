// Measures the cost of holding a replica at each of its lines or file operations: runs the same
// program with and without a watcher. bench_lock_step [COUNT]

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/files.h"
#include "host/process/process_launcher.h"
#include "places.h"

namespace caip {
namespace {

class NoSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine>) override {}
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
};

class EagerWatcher final : public host::ReplicaWatcher {
 public:
  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  host::Verdict Before(const engine::ReplicaKey&, const host::FileOperation&) override {
    return {};
  }
  host::Verdict After(const engine::ReplicaKey&, const host::FileOperation&, int) override {
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

struct Case {
  const char* name;
  const char* program;  // Python; %d is the count
};
constexpr Case kCases[] = {
    {"lines", "import os\nfor i in range(%d): os.write(1, b'step 1 loss 0.5\\n')"},
    {"saves",
     "import os\nfor i in range(%d):\n"
     "  with open('t', 'wb', 0) as f: f.write(b'x' * 1000)\n  os.rename('t', 'f')"},
    {"writes",
     "import os\nf = open('f', 'wb', 0)\n"
     "for i in range(%d): f.write(b'x' * 1000)"},
};

double Seconds(const Case& what, int count, bool watched) {
  TemporaryDirectory state;
  SystemClock clock;
  NoSink sink;
  EagerWatcher watcher;
  auto launcher = host::ProcessLauncher::Start(
      {state.path(), Path(CAIP_BINARY_DIR) / "caip-launcher"}, clock, sink);
  if (!launcher.ok()) std::abort();
  char program[300];
  std::snprintf(program, sizeof program, what.program, count);
  engine::ReplicaLaunch launch;
  launch.key = {{"my-bench-project-1", "job", ""}, {"master", 0}, 1};
  launch.program = run::LocalCommand{{"/usr/bin/python3", "-c", program}};
  if (watched) {
    const std::string disk = (*launcher)->BootDisk(launch.key);
    (*launcher)->Watch({.output = true, .roots = {disk}}, watcher);
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  const auto begin = std::chrono::steady_clock::now();
  (*launcher)->Launch(std::move(launch), {nullptr, [&](const engine::ReplicaExit& exit) {
                                            if (exit.exit_code != 0) std::abort();
                                            const std::lock_guard lock(mutex);
                                            ended = true;
                                            changed.notify_all();
                                          }});
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended; });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace
}  // namespace caip

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 5000;
  for (const caip::Case& what : caip::kCases) {
    for (const bool watched : {false, true}) {
      const double start = caip::Seconds(what, 0, watched);
      const double whole = caip::Seconds(what, count, watched);
      std::printf("%-7s %-8s start %6.1f ms, each %7.1f us\n", what.name,
                  watched ? "watched" : "free", start * 1e3, (whole - start) / count * 1e6);
    }
  }
}
