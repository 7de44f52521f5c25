#include "engine/scheduler.h"

#include <algorithm>

namespace caip::engine {

void QueueBoard::Put(const RunKey& run, const QueuePlace& place) {
  std::lock_guard lock(mutex_);
  if (!places_.emplace(run, place).second) return;
  order_.insert(std::upper_bound(order_.begin(), order_.end(), place), place);
}

void QueueBoard::Take(const RunKey& run) {
  std::lock_guard lock(mutex_);
  const auto found = places_.find(run);
  if (found == places_.end()) return;
  order_.erase(std::lower_bound(order_.begin(), order_.end(), found->second));
  places_.erase(found);
}

int64_t QueueBoard::PositionOf(const RunKey& run) const {
  std::lock_guard lock(mutex_);
  const auto found = places_.find(run);
  if (found == places_.end()) return 0;
  return 1 + (std::lower_bound(order_.begin(), order_.end(), found->second) - order_.begin());
}

void Scheduler::Add(const RunKey& run, QueuePlace place, std::set<std::string> wanted) {
  entries_.insert_or_assign(run, Entry{place, std::move(wanted)});
}

void Scheduler::BecomeReady(const RunKey& run) {
  Entry& entry = entries_.at(run);
  entry.ready = true;
  ready_.emplace(entry.place, run);
  trials_ready_ += entry.place.trial > 0;
  TryAgain();
}

void Scheduler::Remove(const RunKey& run) {
  const auto found = entries_.find(run);
  if (found == entries_.end()) return;
  if (found->second.waits) TryAgain();  // runs that it held up may start now
  if (ready_.erase(found->second.place) > 0) trials_ready_ -= found->second.place.trial > 0;
  entries_.erase(found);
}

std::optional<RunKey> Scheduler::Next(int active) {
  if (!dirty_) return std::nullopt;
  auto it = cursor_ ? ready_.upper_bound(*cursor_) : ready_.begin();
  for (; it != ready_.end(); ++it) {
    cursor_ = it->first;
    if (IsHeldUp(entries_.at(it->second))) continue;
    if (runs_max_ > 0 && active >= runs_max_ && !it->first.IsInside()) {
      if (trials_ready_ == 0) break;
      continue;  // a trial may follow
    }
    return it->second;
  }
  dirty_ = false;
  return std::nullopt;
}

void Scheduler::Waits(const RunKey& run) {
  Entry& entry = entries_.at(run);
  entry.waits = true;
  held_up_.insert(entry.wanted.begin(), entry.wanted.end());
}

bool Scheduler::IsHeldUp(const Entry& entry) const {
  return std::any_of(entry.wanted.begin(), entry.wanted.end(),
                     [this](const std::string& type) { return held_up_.contains(type); });
}

}  // namespace caip::engine
