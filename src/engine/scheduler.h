#pragma once
// Which queued run may start next: higher priority first, then the older.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::engine {

/// A run's place in the queue. The least place comes first.
struct QueuePlace {
  bool resumed = false;  // had its turn before the emulator went down
  int priority = 0;
  uint64_t age = 0;   // by order of creation; a trial's is its job's
  int64_t trial = 0;  // 0: not a trial
  friend bool operator<(const QueuePlace& a, const QueuePlace& b) {
    if (a.resumed != b.resumed) return a.resumed;
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.age != b.age) return a.age < b.age;
    return a.trial < b.trial;
  }
  /// True where the limit of jobs does not apply: the run, or its job, was counted before.
  bool IsInside() const { return resumed || trial > 0; }
};

/// The jobs in QUEUED in their order, for jobPosition. Any thread may ask.
class QueueBoard {
 public:
  void Put(const RunKey& run, const QueuePlace& place);
  void Take(const RunKey& run);
  /// 1 = next; 0 = not in the queue.
  int64_t PositionOf(const RunKey& run) const;

 private:
  mutable std::mutex mutex_;
  std::map<RunKey, QueuePlace> places_;
  std::vector<QueuePlace> order_;  // sorted: a list asks for the positions of a hundred jobs
};

/// Decides the order of starting, not whether there is room for one: the caller tries the devices
/// and says how it went. Engine thread only.
class Scheduler {
 public:
  /// `runs_max` 0: as many as there are.
  explicit Scheduler(int runs_max) : runs_max_(runs_max) {}

  /// `wanted` are the device types it asks for: two that want the same do not overtake each other.
  void Add(const RunKey& run, QueuePlace place, std::set<std::string> wanted);
  /// Its queue delay is over.
  void BecomeReady(const RunKey& run);
  void Remove(const RunKey& run);

  /// Resources were given back: runs that wait may be tried again.
  void TryAgain() { cursor_.reset(), held_up_.clear(), dirty_ = true; }
  /// The run to be tried now, if any; `active` runs have been started and not ended.
  std::optional<RunKey> Next(int active);
  /// The run that Next() returned waits for its devices, and so do later runs that want the same.
  void Waits(const RunKey& run);

 private:
  struct Entry {
    QueuePlace place;
    std::set<std::string> wanted;
    bool ready = false;
    bool waits = false;  // was tried, and there was no device for it
  };
  bool IsHeldUp(const Entry& entry) const;

  int runs_max_;
  std::map<RunKey, Entry> entries_;
  std::map<QueuePlace, RunKey> ready_;
  size_t trials_ready_ = 0;
  std::optional<QueuePlace> cursor_;  // tried up to here in this round
  std::set<std::string> held_up_;     // device types that an earlier run waits for
  bool dirty_ = false;
};

}  // namespace caip::engine
