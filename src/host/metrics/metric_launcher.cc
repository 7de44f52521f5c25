#include "host/metrics/metric_launcher.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/errors.h"
#include "host/metrics/metric_sources.h"
#include "host/metrics/reading_thread.h"
#include "run/texts.h"

namespace caip::host {

using engine::ReplicaExit;
using engine::ReplicaKey;

// Reads the reports on a thread of its own.
class MetricLauncher::Reader {
 public:
  Reader(engine::LocalDisks* disks, MetricLauncherOptions options, engine::LogSink& log,
         const Clock& clock)
      : disks_(disks),
        options_(std::move(options)),
        log_(log),
        clock_(clock),
        thread_({[this](uint64_t place, const Path& file) { NoteChange(place, file); },
                 [this] { return ReadChanged(); }}) {}

  /// False: no thread could read the trial's reports, so its launch ends here.
  bool StartFor(const engine::ReplicaLaunch& launch, const Listener& listener) {
    const Status started = thread_.Start();
    if (!started.ok()) EndUnread(launch, listener, started.error(), log_, clock_);
    return started.ok();
  }
  void Follow(const ReplicaKey& key, const engine::MetricSource& source, Listener listener) {
    thread_.Post([this, key, source, listener = std::move(listener)] {
      return Begin(key, source, listener);
    });
  }
  void Finish(const ReplicaExit& exit, Listener listener) {
    thread_.Post([this, exit, listener = std::move(listener), waiting = Stopwatch()] {
      if (!End(exit.key, waiting)) return false;
      listener.on_exit(exit);
      return true;
    });
  }
  void Stop() { thread_.Stop(); }

 private:
  struct Followed {
    ReplicaKey key;
    Listener listener;
    MetricSources sources;
    bool has_ended = false;
  };

  // Each trial has two places: its metric file's directory, and its job-dir.
  static uint64_t FilesOf(uint64_t number) { return number * 2; }
  static uint64_t EventsOf(uint64_t number) { return number * 2 + 1; }

  bool Begin(const ReplicaKey& key, engine::MetricSource source, const Listener& listener) {
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
    if (disks_) all = thread_.watch().Add(FilesOf(number), Path(source.file).parent_path(), false);
    if (!events.empty()) all = thread_.watch().Add(EventsOf(number), events, true) && all;
    if (!all) Log(key, errors::MetricsUnwatched());
    followed.sources.NoteAll();
    changed_.insert(number);
    return true;
  }

  void NoteChange(uint64_t place, const Path& file) {
    const auto found = followed_.find(place / 2);
    if (found == followed_.end()) return;
    MetricSources& sources = found->second.sources;
    if (place == FilesOf(found->first)) {
      if (!file.empty() && file != sources.metric_file()) return;
      sources.NoteMetricFile();
    } else if (file.empty()) {
      sources.NoteEventFiles();
    } else {
      sources.NoteEventFile(file);
    }
    changed_.insert(found->first);
  }

  bool ReadChanged() {
    for (const uint64_t number : std::exchange(changed_, {})) {
      const auto found = followed_.find(number);
      if (found != followed_.end() && !Read(found->second)) changed_.insert(number);
    }
    return changed_.empty();
  }

  // A trial does not end while its last reports cannot be read, but not forever.
  bool End(const ReplicaKey& key, const Stopwatch& waiting) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return true;  // the replica could not be started
    const uint64_t number = found->second;
    Followed& followed = followed_.at(number);
    if (!std::exchange(followed.has_ended, true)) followed.sources.NoteAll();
    const bool is_all = Read(followed);
    if (!is_all && waiting.Elapsed() < options_.end_wait_max) return false;
    if (!is_all) Log(key, errors::MetricsUnread());
    const std::set<std::string> others = followed.sources.OtherTags();
    if (!others.empty()) Log(key, errors::OtherTagsOnly(followed.sources.tag(), others));
    thread_.watch().Remove(FilesOf(number));
    thread_.watch().Remove(EventsOf(number));
    followed_.erase(number);
    by_key_.erase(found);
    return true;
  }

  // False: something is left to read.
  bool Read(Followed& followed) {
    std::vector<engine::Report> reports;
    const bool is_all = followed.sources.Read(reports);
    for (std::string& warning : followed.sources.TakeWarnings()) {
      Log(followed.key, std::move(warning));
    }
    const auto& on_reports = followed.listener.on_reports;
    if (on_reports && !reports.empty()) on_reports(followed.key, std::move(reports));
    return is_all;
  }

  void Log(const ReplicaKey& key, std::string message) {
    log_.Write({{.run = key.run,
                 .task = std::string(run::kServiceTask),
                 .severity = engine::Severity::kWarning,
                 .time = clock_.Now(),
                 .message = std::move(message)}});
  }

  engine::LocalDisks* const disks_;  // null: boot disks are not on this host
  const MetricLauncherOptions options_;
  engine::LogSink& log_;
  const Clock& clock_;
  // Only the thread uses these members.
  uint64_t numbers_ = 0;
  std::map<uint64_t, Followed> followed_;
  std::map<ReplicaKey, uint64_t> by_key_;
  std::set<uint64_t> changed_;  // the numbers of trials with something to read
  ReadingThread thread_;        // last: it ends before the members above
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
  if (!reader_->StartFor(launch, listener)) return;
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
