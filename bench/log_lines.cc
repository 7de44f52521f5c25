// Measures log lines in a second: eight replicas write as fast as they can, through pipes, line
// splitter, classifier and log book, until every line is durable. Compares this with discarding the
// output of the same pipes. Goal: 300,000 lines a second in total on two cores.
//
//   bench_log_lines [lines of each replica]     (bench_log_lines --write N is such a replica)

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "fakes/logging/book/log_book.h"
#include "host/process/process_launcher.h"
#include "places.h"

namespace caip {
namespace {

constexpr int kReplicas = 8;
constexpr std::string_view kJob = "bench_20260101_000000";

/// A replica: numbered lines as a trainer prints them, in large writes.
int Write(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text +=
        "step " + std::to_string(i) + " of 10000: loss 0.6931, accuracy 0.9312, 1234 images/s\n";
    if (text.size() < 60'000 && i + 1 < count) continue;
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (written < 0) return 1;
      rest.remove_prefix(static_cast<size_t>(written));
    }
    text.clear();
  }
  return 0;
}

/// Passes the launcher's lines to the book, as the emulator does.
class BookSink final : public engine::LogSink {
 public:
  explicit BookSink(logging::LogBook& book) : book_(book) {}
  void Write(std::vector<engine::LogLine> lines) override {
    std::vector<logging::Entry> entries;
    entries.reserve(lines.size());
    for (engine::LogLine& line : lines) {
      logging::Entry& entry = entries.emplace_back();
      entry.project = std::move(line.run.project);
      entry.job_id = std::move(line.run.job_id);
      entry.trial = std::move(line.run.trial);
      entry.task = std::move(line.task);
      entry.severity = "INFO";
      entry.timestamp = line.time;
      entry.message = std::move(line.message);
      entry.pathname = std::move(line.pathname);
      entry.lineno = line.line_number;
      entry.thread = std::move(line.thread);
    }
    book_.Append(std::move(entries));
  }
  Status Flush() override {
    if (!book_.Flush().ok()) std::abort();
    return Ok{};
  }
  bool IsStored(std::function<void()> stored) override { return book_.IsStored(std::move(stored)); }

 private:
  logging::LogBook& book_;
};

class CountingSink final : public engine::LogSink {
 public:
  void Write(std::vector<engine::LogLine>) override {}
  Status Flush() override { return Ok{}; }
  bool IsStored(std::function<void()>) override { return true; }
};

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// `kReplicas` writers into pipes that threads of this process empty, like `cat > /dev/null`.
double DrainSeconds(int lines) {
  const std::string command =
      "/proc/" + std::to_string(::getpid()) + "/exe --write " + std::to_string(lines);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < kReplicas; ++i) {
    threads.emplace_back([&command] {
      FILE* pipe = ::popen(command.c_str(), "re");
      std::vector<char> buffer(64 << 10);
      while (::read(::fileno(pipe), buffer.data(), buffer.size()) > 0) continue;
      ::pclose(pipe);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Seconds(std::chrono::steady_clock::now() - begin);
}

/// Runs the whole path, and returns when every line is durable.
double PathSeconds(int lines, engine::LogSink& sink) {
  TemporaryDirectory state;
  SystemClock clock;
  auto launcher = host::ProcessLauncher::Start(
      {state.path(), Path(CAIP_BINARY_DIR) / "caip-launcher", {}}, clock, sink);
  if (!launcher.ok()) std::abort();
  std::mutex mutex;
  std::condition_variable changed;
  int ended = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kReplicas; ++i) {
    engine::ReplicaLaunch launch;
    launch.key = {{"my-bench-project-1", std::string(kJob), ""}, {"worker", i}, 1};
    launch.task = "worker-replica-" + std::to_string(i);
    launch.program = run::LocalCommand{
        {"/proc/" + std::to_string(::getpid()) + "/exe", "--write", std::to_string(lines)}};
    (*launcher)->Launch(std::move(launch), {nullptr, [&](const engine::ReplicaExit& exit) {
                                              if (exit.exit_code != 0 || !exit.start_error.empty())
                                                std::abort();
                                              const std::lock_guard lock(mutex);
                                              ++ended;
                                              changed.notify_all();
                                            }});
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended == kReplicas; });
  if (!sink.Flush().ok()) std::abort();
  return Seconds(std::chrono::steady_clock::now() - begin);
}

/// True when the book has each replica's lines 0, 1, 2, ... and nothing else.
bool IsComplete(logging::LogBook& book, int lines) {
  std::vector<int> next(kReplicas, 0);
  uint64_t after = 0;
  for (;;) {
    logging::EntryQuery query;
    query.project = "my-bench-project-1";
    query.job_id = kJob;
    query.after_id = after;
    query.limit = 50'000;
    const auto page = book.Query(query);
    if (!page.ok()) return false;
    if (page->empty()) break;
    for (const logging::Entry& entry : *page) {
      const int replica = std::atoi(entry.task.c_str() + std::strlen("worker-replica-"));
      if (std::atoi(entry.message.c_str() + 5) != next[replica]++) return false;
    }
    after = page->back().insert_id;
  }
  for (const int count : next) {
    if (count != lines) return false;
  }
  return true;
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int Run(int lines) {
  const double total = static_cast<double>(lines) * kReplicas;
  const double drain = DrainSeconds(lines);
  std::printf("drained into nothing: %.0f lines/s\n", total / drain);
  CountingSink nowhere;
  std::printf("split and classified: %.0f lines/s\n", total / PathSeconds(lines, nowhere));
  TemporaryDirectory directory;
  auto book = logging::LogBook::Open(directory.path() / "logs.db", {"ml_job", "ml.googleapis.com"});
  if (!book.ok()) return 1;
  BookSink sink(**book);
  const double cpu_before = CpuSeconds();
  const double path = PathSeconds(lines, sink);
  const double cpu = CpuSeconds() - cpu_before;
  std::printf(
      "durable in the log book: %.0f lines/s (goal 300000), %.2f us of our CPU a line, "
      "%.3f of draining\n",
      total / path, cpu / total * 1e6, drain / path);
  const bool complete = IsComplete(**book, lines);
  std::printf("%s\n", complete ? "none lost, all in order" : "LINES ARE MISSING OR OUT OF ORDER");
  return complete ? 0 : 1;
}

}  // namespace
}  // namespace caip

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--write") == 0) return caip::Write(std::atoi(argv[2]));
  return caip::Run(argc > 1 ? std::atoi(argv[1]) : 200'000);
}
