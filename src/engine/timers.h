#pragma once
// The timers of all runs.

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "engine/events.h"

namespace caip::engine {

/// The timers of all runs, at most one for each run, kind and replica. One thread.
class Timers {
 public:
  struct Due {
    RunKey run;
    TimerFired fired;
    bool operator==(const Due&) const = default;
  };

  void Start(const RunKey& run, const TimerFired& fires, Instant at);
  void Stop(const RunKey& run, TimerKind kind, run::ReplicaId replica);
  void StopAllOf(const RunKey& run);
  /// kNever when there is none.
  Instant NextDeadline() const;
  /// Removes the earliest due timer. Timers due at the same time come in start order.
  std::optional<Due> TakeDue(Instant now);

 private:
  using Name = std::tuple<RunKey, TimerKind, run::ReplicaId>;
  struct Entry {
    Instant at;
    uint64_t order = 0;
    int stamp = 0;
  };
  std::map<Name, Entry> by_name_;
  std::map<std::pair<Instant, uint64_t>, Name> by_time_;
  uint64_t started_ = 0;
};

}  // namespace caip::engine
