#include "engine/timers.h"

namespace caip::engine {

void Timers::Start(const RunKey& run, const TimerFired& fires, Instant at) {
  Stop(run, fires.kind, fires.replica);
  const Name name{run, fires.kind, fires.replica};
  const Entry entry{at, started_++, fires.stamp};
  by_name_.emplace(name, entry);
  by_time_.emplace(std::pair(at, entry.order), name);
}

void Timers::Stop(const RunKey& run, TimerKind kind, run::ReplicaId replica) {
  const auto found = by_name_.find({run, kind, replica});
  if (found == by_name_.end()) return;
  by_time_.erase({found->second.at, found->second.order});
  by_name_.erase(found);
}

void Timers::StopAllOf(const RunKey& run) {
  auto it = by_name_.lower_bound({run, TimerKind{}, {}});
  while (it != by_name_.end() && std::get<RunKey>(it->first) == run) {
    by_time_.erase({it->second.at, it->second.order});
    it = by_name_.erase(it);
  }
}

Instant Timers::NextDeadline() const {
  return by_time_.empty() ? kNever : by_time_.begin()->first.first;
}

std::optional<Timers::Due> Timers::TakeDue(Instant now) {
  if (NextDeadline() > now) return std::nullopt;
  const auto [run, kind, replica] = by_time_.begin()->second;
  const auto found = by_name_.find({run, kind, replica});
  const Due due{run, {kind, replica, found->second.stamp}};
  by_name_.erase(found);
  by_time_.erase(by_time_.begin());
  return due;
}

}  // namespace caip::engine
