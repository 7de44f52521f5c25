#include "host/metrics/log_file_launcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/metrics/directory_watch.h"
#include "host/metrics/log_files.h"
#include "host/process/container_entry.h"
#include "host/process/line_splitter.h"
#include "run/texts.h"

namespace caip::host {

using engine::ReplicaExit;

namespace {

constexpr int kReadLogsAgainMs = 20;
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

// The reading thread, which starts with its first task, and the tasks that other threads post to
// it. Each replica's directory has a number.
class LogFileLauncher::Reader {
 public:
  using OnExit = std::function<void(const ReplicaExit&)>;

  Reader(engine::LogSink& log, const Clock& clock, Duration end_wait_max)
      : log_(log),
        clock_(clock),
        end_wait_max_(end_wait_max),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void Follow(uint64_t number, Path directory, engine::RunKey run, std::string task) {
    Post([this, number, directory = std::move(directory), run = std::move(run),
          task = std::move(task)] { Begin(number, directory, run, task); });
  }
  void Finish(uint64_t number, const ReplicaExit& exit, OnExit on_exit) {
    Post([this, number, exit, on_exit = std::move(on_exit), watch = Stopwatch()] {
      EndWhenRead(number, exit, on_exit, watch);
    });
  }
  /// Deletes the directory.
  void Forget(uint64_t number, Path directory) {
    Post([this, number, directory = std::move(directory)] {
      StopWatching(number);
      followed_.erase(number);
      RemoveTree(directory);
    });
  }
  /// Ends the thread. Tasks that have not begun do not run.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    Wake();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Followed {
    engine::RunKey run;
    std::string task;
    LogFiles files;
  };

  void Post(std::function<void()> what) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      asked_.push_back(std::move(what));
      if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
    }
    Wake();
  }

  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
  }

  void Run() {
    watch_.emplace([this](uint64_t number, const Path&) { changed_.insert(number); });
    while (true) {
      struct pollfd waits[] = {{wake_.get(), POLLIN, 0}, {watch_->descriptor(), POLLIN, 0}};
      const bool is_all = postponed_.empty() && changed_.empty() && unwatched_.empty();
      ::poll(waits, 2, is_all ? -1 : kReadLogsAgainMs);
      uint64_t count = 0;
      [[maybe_unused]] const auto taken = ::read(wake_.get(), &count, sizeof count);
      std::vector<std::function<void()>> asked;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        asked = std::exchange(asked_, {});
      }
      if (watch_->descriptor() >= 0) watch_->Handle();
      for (const auto& what : std::exchange(postponed_, {})) what();
      for (const auto& what : asked) what();
      ReadChanged();
    }
  }

  // A directory whose disk was kept has been read before: only what is new in it counts.
  void Begin(uint64_t number, const Path& directory, const engine::RunKey& run,
             const std::string& task) {
    followed_.try_emplace(number, Followed{run, task, LogFiles(directory)});
    if (!watch_->Add(number, directory, false)) unwatched_.insert(number);
    changed_.insert(number);
  }

  void ReadChanged() {
    std::set<uint64_t> numbers = std::exchange(changed_, {});
    numbers.insert(unwatched_.begin(), unwatched_.end());
    for (const uint64_t number : numbers) {
      const auto found = followed_.find(number);
      if (found != followed_.end() && !Read(found->second)) changed_.insert(number);
    }
  }

  // A replica does not end while its last lines cannot be read, but not forever.
  void EndWhenRead(uint64_t number, const ReplicaExit& exit, const OnExit& on_exit,
                   const Stopwatch& waiting) {
    if (!End(number, waiting)) {
      postponed_.emplace_back(
          [this, number, exit, on_exit, waiting] { EndWhenRead(number, exit, on_exit, waiting); });
    } else if (on_exit) {
      on_exit(exit);
    }
  }

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
    watch_->Remove(number);
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
  Fd wake_;
  // Only the reading thread uses these members.
  std::optional<DirectoryWatch> watch_;
  std::map<uint64_t, Followed> followed_;
  std::set<uint64_t> changed_;                    // there may be something to read
  std::set<uint64_t> unwatched_;                  // the kernel watches no more directories
  std::vector<std::function<void()>> postponed_;  // until all is read

  std::mutex mutex_;
  std::vector<std::function<void()>> asked_;  // guarded by mutex_
  bool stopping_ = false;                     // guarded by mutex_
  std::thread thread_;
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
