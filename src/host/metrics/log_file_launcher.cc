#include "host/metrics/log_file_launcher.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/metrics/log_files.h"
#include "host/metrics/reading_thread.h"
#include "host/process/container_entry.h"
#include "host/process/line_splitter.h"
#include "run/texts.h"

namespace caip::host {

using engine::ReplicaExit;

namespace {

constexpr size_t kLogLinesAtOnce = 8192;  // in one call of the log

// Whether the launch has a volume that covers the directory of log files.
bool CoversLogFiles(const engine::Volume& volume) {
  const std::string inner = std::string(kLogFilesAt) + "/";
  return inner.starts_with(volume.shown.ends_with('/') ? volume.shown : volume.shown + "/");
}

std::string UnreadBytesText(uint64_t bytes) {
  const std::string what = bytes == 0 ? "The log files" : std::to_string(bytes) + " bytes";
  return what + " in " + std::string(kLogFilesAt) +
         " were not read before the replica ended. They are larger than the emulator can read in "
         "time, or it has no free file descriptor.";
}

std::string LostLogFilesText(size_t files) {
  return "Lines at the ends of log files in " + std::string(kLogFilesAt) +
         " may be missing. More files existed than the emulator keeps open, and " +
         std::to_string(files) + " of the others were deleted or renamed.";
}

}  // namespace

// Reads the log files on a thread of its own. Each replica's directory has a number.
class LogFileLauncher::Reader {
 public:
  using OnExit = std::function<void(const ReplicaExit&)>;

  Reader(engine::LogSink& log, const Clock& clock, Duration end_wait_max)
      : log_(log),
        clock_(clock),
        end_wait_max_(end_wait_max),
        thread_({[this](uint64_t number, const Path&) { changed_.insert(number); },
                 [this] { return ReadChanged(); }}) {}

  /// False: no thread could read the replica's files, so its launch ends here.
  bool StartFor(const engine::ReplicaLaunch& launch, const Listener& listener) {
    const Status started = thread_.Start();
    if (!started.ok()) EndUnread(launch, listener, started.error(), log_, clock_);
    return started.ok();
  }
  void Follow(uint64_t number, Path directory, engine::RunKey run, std::string task) {
    thread_.Post([this, number, directory = std::move(directory), run = std::move(run),
                  task = std::move(task)] { return Begin(number, directory, run, task); });
  }
  void Finish(uint64_t number, const ReplicaExit& exit, OnExit on_exit) {
    thread_.Post([this, number, exit, on_exit = std::move(on_exit), waiting = Stopwatch()] {
      if (!End(number, waiting)) return false;
      if (on_exit) on_exit(exit);
      return true;
    });
  }
  /// Deletes the directory.
  void Forget(uint64_t number, Path directory) {
    thread_.Post([this, number, directory = std::move(directory)] {
      StopWatching(number);
      followed_.erase(number);
      RemoveTree(directory);
      return true;
    });
  }
  void Stop() { thread_.Stop(); }

 private:
  struct Followed {
    engine::RunKey run;
    std::string task;
    LogFiles files;
  };

  // A directory whose disk was kept has been read before: only what is new in it counts.
  bool Begin(uint64_t number, const Path& directory, const engine::RunKey& run,
             const std::string& task) {
    followed_.try_emplace(number, Followed{run, task, LogFiles(directory)});
    if (!thread_.watch().Add(number, directory, false)) unwatched_.insert(number);
    changed_.insert(number);
    return true;
  }

  bool ReadChanged() {
    std::set<uint64_t> numbers = std::exchange(changed_, {});
    numbers.insert(unwatched_.begin(), unwatched_.end());
    for (const uint64_t number : numbers) {
      const auto found = followed_.find(number);
      if (found != followed_.end() && !Read(found->second)) changed_.insert(number);
    }
    return changed_.empty() && unwatched_.empty();
  }

  // A replica does not end while its last lines cannot be read, but not forever.
  bool End(uint64_t number, const Stopwatch& waiting) {
    const auto found = followed_.find(number);
    if (found == followed_.end()) return true;  // its run was discarded
    Followed& followed = found->second;
    const bool is_all = Read(followed);
    if (!is_all && waiting.Elapsed() < end_wait_max_) return false;
    LogFiles::Unread unread;
    Pass(followed, [&](const LogFiles::Take& take) { unread = followed.files.End(take); });
    if (!is_all) Warn(followed, UnreadBytesText(unread.bytes));
    if (unread.files > 0) Warn(followed, LostLogFilesText(unread.files));
    StopWatching(number);
    return true;
  }

  void Warn(const Followed& followed, const std::string& text) {
    log_.Write({{followed.run, std::string(run::kServiceTask), engine::Severity::kWarning,
                 clock_.Now(), followed.task + ": " + text}});
  }

  void StopWatching(uint64_t number) {
    thread_.watch().Remove(number);
    unwatched_.erase(number);
    changed_.erase(number);
  }

  bool Read(Followed& followed) {
    bool is_all = true;
    Pass(followed, [&](const LogFiles::Take& take) { is_all = followed.files.Read(take); });
    return is_all;
  }

  /// Calls `read` with a function for lines, and hands the entries of those to the log.
  void Pass(const Followed& followed, const std::function<void(const LogFiles::Take&)>& read) {
    std::vector<engine::LogLine> lines;
    const Instant now = clock_.Now();
    read([&](std::string_view line) {
      auto entry = IsSafeText(line) ? ContainerEntry(line) : ContainerEntry(SafeText(line));
      if (!entry) return;
      entry->run = followed.run;
      entry->task = followed.task;
      entry->time = now;
      lines.push_back(*std::move(entry));
      if (lines.size() == kLogLinesAtOnce) log_.Write(std::exchange(lines, {}));
    });
    if (!lines.empty()) log_.Write(std::move(lines));
  }

  engine::LogSink& log_;
  const Clock& clock_;
  const Duration end_wait_max_;
  // Only the thread uses these members.
  std::map<uint64_t, Followed> followed_;
  std::set<uint64_t> changed_;    // there may be something to read
  std::set<uint64_t> unwatched_;  // the kernel watches no more directories
  ReadingThread thread_;          // last: it ends before the members above
};

LogFileLauncher::LogFileLauncher(std::unique_ptr<engine::Launcher> inner, LogFileOptions options,
                                 engine::LogSink& log, const Clock& clock)
    : ForwardingLauncher(std::move(inner)),
      options_(std::move(options)),
      reader_(std::make_shared<Reader>(log, clock, options_.end_wait_max)) {}

LogFileLauncher::~LogFileLauncher() { reader_->Stop(); }

// The number of the replica's directory: a new one for a fresh disk. 0: it cannot be made.
uint64_t LogFileLauncher::NumberFor(const engine::ReplicaLaunch& launch) {
  const std::lock_guard lock(mutex_);
  uint64_t& number = numbers_[{launch.key.run, launch.key.replica}];
  if (number != 0 && !launch.fresh_disk) return number;
  if (number != 0) reader_->Forget(number, DirectoryOf(number));
  number = ++last_number_;
  const Path directory = DirectoryOf(number);
  if (!MakeDirectories(directory).ok()) return number = 0;
  const bool has_user = launch.image && launch.image->user != 0;
  if (has_user) ::chmod(directory.c_str(), 01777);
  return number;
}

void LogFileLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  const bool is_covered = std::ranges::any_of(launch.volumes, CoversLogFiles);
  const bool is_read = !is_covered && options_.reads_files(launch.key.run);
  if (is_read && !reader_->StartFor(launch, listener)) return;
  const uint64_t number = is_read ? NumberFor(launch) : 0;
  if (number == 0) return inner().Launch(std::move(launch), std::move(listener));
  const Path directory = DirectoryOf(number);
  launch.volumes.push_back({directory.string(), std::string(kLogFilesAt)});
  reader_->Follow(number, directory, launch.key.run, launch.task);
  listener.on_exit = [reader = reader_, number, on_exit = std::move(listener.on_exit)](
                         const ReplicaExit& exit) { reader->Finish(number, exit, on_exit); };
  inner().Launch(std::move(launch), std::move(listener));
}

void LogFileLauncher::Discard(const engine::RunKey& run) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(numbers_, [&](const auto& entry) {
      const engine::RunKey& of = entry.first.first;
      const bool belongs = of == run || (!run.IsTrial() && of.Job() == run);
      if (belongs && entry.second != 0) reader_->Forget(entry.second, DirectoryOf(entry.second));
      return belongs;
    });
  }
  inner().Discard(run);
}

}  // namespace caip::host
