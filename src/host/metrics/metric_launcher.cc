#include "host/metrics/metric_launcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "host/errors.h"
#include "host/metrics/directory_watch.h"
#include "host/metrics/metric_sources.h"
#include "run/texts.h"

namespace caip::host {

using engine::ReplicaExit;
using engine::ReplicaKey;

namespace {

constexpr int kReadAgainMs = 100;

}  // namespace

// The reading thread, which starts with its first task, and the tasks that other threads post to
// it.
class MetricLauncher::Reader {
 public:
  Reader(engine::LocalDisks* disks, MetricLauncherOptions options, engine::LogSink& log,
         const Clock& clock)
      : disks_(disks),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        watch_([this](uint64_t number, const Path& file) { Changed(number, file); }) {}

  void Follow(const ReplicaKey& key, const engine::MetricSource& source, Listener listener) {
    Post([this, key, source, listener = std::move(listener)] { Begin(key, source, listener); });
  }
  void Finish(const ReplicaExit& exit, Listener listener) {
    Post([this, exit, listener = std::move(listener)] { EndWhenRead(exit, listener); });
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
    ReplicaKey key;
    Listener listener;
    MetricSources sources;
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
    while (true) {
      struct pollfd waits[] = {{wake_.get(), POLLIN, 0}, {watch_.descriptor(), POLLIN, 0}};
      ::poll(waits, 2, postponed_.empty() ? -1 : kReadAgainMs);
      uint64_t count = 0;
      [[maybe_unused]] const auto taken = ::read(wake_.get(), &count, sizeof count);
      std::vector<std::function<void()>> asked;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        asked = std::exchange(asked_, {});
      }
      if (watch_.descriptor() >= 0) watch_.Handle();
      for (const auto& what : std::exchange(postponed_, {})) what();
      for (const auto& what : asked) what();
    }
  }

  // Each trial has two places: its metric file's directory, and its job-dir.
  static uint64_t FilesOf(uint64_t number) { return number * 2; }
  static uint64_t EventsOf(uint64_t number) { return number * 2 + 1; }

  void Begin(const ReplicaKey& key, engine::MetricSource source, const Listener& listener) {
    const uint64_t number = ++numbers_;
    if (disks_) {
      source.file = disks_->OnHost(key, source.file);
    } else {
      source.file.clear();
      Log(key, errors::MetricFilesOutOfReach());
    }
    by_key_[key] = number;
    const Path events =
        source.output_directory.empty() ? Path() : options_.directory_of(source.output_directory);
    Followed& followed =
        followed_.emplace(number, Followed{key, listener, MetricSources(source, events)})
            .first->second;
    bool all = true;
    if (disks_) all = watch_.Add(FilesOf(number), Path(source.file).parent_path(), false);
    if (!events.empty()) all = watch_.Add(EventsOf(number), events, true) && all;
    if (!all) Log(key, errors::MetricsUnwatched());
    PassReports(followed, followed.sources.ReadMetricFile());
    PassReports(followed, followed.sources.ReadEventFiles());
  }

  void Changed(uint64_t place, const Path& file) {
    const auto found = followed_.find(place / 2);
    if (found == followed_.end()) return;
    Followed& followed = found->second;
    const bool is_events = place == EventsOf(found->first);
    if (is_events && file.empty()) {
      PassReports(followed, followed.sources.ReadEventFiles());
    } else if (is_events && IsEventFileName(file.filename().string())) {
      PassReports(followed, followed.sources.ReadEventFile(file));
    } else if (!is_events && (file.empty() || file == followed.sources.metric_file())) {
      PassReports(followed, followed.sources.ReadMetricFile());
    }
  }

  // A trial does not end while its last reports cannot be read.
  void EndWhenRead(const ReplicaExit& exit, const Listener& listener) {
    if (End(exit.key)) return listener.on_exit(exit);
    postponed_.emplace_back([this, exit, listener] { EndWhenRead(exit, listener); });
  }

  // False: no descriptor was free.
  bool End(const ReplicaKey& key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return true;  // the replica could not be started
    const uint64_t number = found->second;
    Followed& followed = followed_.at(number);
    (void)followed.sources.TakePostponed();
    PassReports(followed, followed.sources.ReadMetricFile());
    PassReports(followed, followed.sources.ReadEventFiles());
    if (followed.sources.TakePostponed()) return false;
    const std::set<std::string> others = followed.sources.OtherTags();
    if (!others.empty()) Log(key, errors::OtherTagsOnly(followed.sources.tag(), others));
    watch_.Remove(FilesOf(number));
    watch_.Remove(EventsOf(number));
    followed_.erase(number);
    by_key_.erase(found);
    return true;
  }

  void PassReports(Followed& followed, std::vector<engine::Report> reports) {
    for (std::string& warning : followed.sources.TakeWarnings()) {
      Log(followed.key, std::move(warning));
    }
    const auto& on_reports = followed.listener.on_reports;
    if (on_reports && !reports.empty()) on_reports(followed.key, std::move(reports));
  }

  void Log(const ReplicaKey& key, std::string message) {
    log_.Write({{.run = key.run,
                 .task = std::string(run::kServiceTask),
                 .severity = engine::Severity::kWarning,
                 .time = clock_.Now(),
                 .message = std::move(message)}});
  }

  engine::LocalDisks* const disks_;  // null: boot disks are not on this host
  MetricLauncherOptions options_;
  engine::LogSink& log_;
  const Clock& clock_;
  Fd wake_;
  DirectoryWatch watch_;
  uint64_t numbers_ = 0;
  std::map<uint64_t, Followed> followed_;
  std::map<ReplicaKey, uint64_t> by_key_;
  std::vector<std::function<void()>> postponed_;  // until a descriptor is free

  std::mutex mutex_;
  std::vector<std::function<void()>> asked_;  // guarded by mutex_
  bool stopping_ = false;                     // guarded by mutex_
  std::thread thread_;
};

MetricLauncher::MetricLauncher(std::unique_ptr<engine::Launcher> inner, engine::LocalDisks* disks,
                               MetricLauncherOptions options, engine::LogSink& log,
                               const Clock& clock)
    : ForwardingLauncher(std::move(inner)),
      reader_(std::make_shared<Reader>(disks, std::move(options), log, clock)) {}

MetricLauncher::~MetricLauncher() { reader_->Stop(); }

// A trial is followed from its start, when its boot disk exists. All sources are read once more
// before the engine gets the exit, because the engine may then empty the disk.
void MetricLauncher::Launch(engine::ReplicaLaunch launch, Listener listener) {
  if (!launch.metrics) return inner().Launch(std::move(launch), std::move(listener));
  Listener wrapped;
  wrapped.on_started = [reader = reader_, source = *launch.metrics,
                        listener](const ReplicaKey& key) {
    reader->Follow(key, source, listener);
    listener.on_started(key);
  };
  wrapped.on_exit = [reader = reader_, listener](const ReplicaExit& exit) {
    reader->Finish(exit, listener);
  };
  inner().Launch(std::move(launch), std::move(wrapped));
}

}  // namespace caip::host
