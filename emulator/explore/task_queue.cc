#include "emulator/explore/task_queue.h"

#include <algorithm>
#include <utility>

namespace caip::explore {
namespace {

// So many of a kind are tried before the rest is left out: the first one, the last one, and those
// at each quarter between them (FromFarApart).
constexpr size_t kEnoughAlike = 5;

// How many of a kind must be settled before the one with this rank is tried: 0, 5, 10, 20, 40, ...
// So that workers need not wait for each single outcome, but the choice is the same for any number
// of them.
size_t SettledBefore(size_t rank) {
  size_t count = kEnoughAlike;
  if (rank < count) return 0;
  while (count * 2 <= rank) count *= 2;
  return count;
}

// The numbers below `count`: the first, the last, then those at halves, quarters and so on.
std::vector<size_t> FromFarApart(size_t count) {
  std::vector<size_t> order = {0};
  std::vector<bool> taken(count, false);
  taken[0] = true;
  for (size_t parts = 1; order.size() < count; parts = std::min(parts * 2, count)) {
    for (size_t part = 1; part <= parts; ++part) {
      // With as many parts as numbers, each number is one.
      const size_t at = parts == count ? part - 1 : part * (count - 1) / parts;
      if (!taken[at]) order.push_back(at);
      taken[at] = true;
    }
  }
  return order;
}

// Each replica has kinds of its own: a loss of a worker may hang where one of the chief does not.
std::string KindOfReplica(const ExploreTask& task) {
  const std::string replicas =
      task.point.replica + "\n" + (task.second ? task.second->replica : "");
  return KindOf(task) + "\n" + replicas;
}

// The cause, if a limit ended the job.
std::string CauseOfLimit(const ExploreOutcome* outcome) {
  if (!outcome || outcome->flaws.empty()) return "";
  const harness::Flaw& flaw = outcome->flaws.front();
  return flaw.kind == harness::Flaw::Kind::kNoEnd ? flaw.cause : "";
}

}  // namespace

TaskQueue::TaskQueue(const TaskList& tasks, const std::vector<size_t>& order, bool tries_all)
    : tries_all_(tries_all) {
  std::map<std::string, size_t> kinds;
  for (const size_t task : order) {
    const auto [kind, is_new] = kinds.emplace(KindOfReplica(tasks[task]), kinds_.size());
    if (is_new) kinds_.emplace_back();
    Kind& mine = kinds_[kind->second];
    mine.places.push_back(entries_.size());
    Entry entry;
    entry.task = task;
    entry.kind = kind->second;
    entry.rank = mine.places.size() - 1;
    entries_.push_back(std::move(entry));
  }
  for (const Kind& kind : kinds_) SpreadTasks(kind);
}

// The order that the queue gets spreads the tasks of all replicas together.
void TaskQueue::SpreadTasks(const Kind& kind) {
  std::vector<size_t> tasks;
  for (const size_t place : kind.places) tasks.push_back(entries_[place].task);
  std::ranges::sort(tasks);
  const std::vector<size_t> order = FromFarApart(tasks.size());
  for (size_t rank = 0; rank < order.size(); ++rank) {
    entries_[kind.places[rank]].task = tasks[order[rank]];
    places_[tasks[order[rank]]] = kind.places[rank];
  }
}

std::optional<size_t> TaskQueue::Next() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    bool waits = false;
    for (size_t place = 0; place < entries_.size(); ++place) {
      Entry& entry = entries_[place];
      if (entry.state != State::kOpen) continue;
      if (!IsReady(entry)) {
        waits = true;
      } else if (IsLeftOut(entry)) {
        kinds_[entry.kind].left_out.push_back(entry.task);
        SettleLocked(place);
      } else {
        entry.state = State::kTried;
        return entry.task;
      }
    }
    if (!waits) return std::nullopt;
    changed_.wait(lock);
  }
  return std::nullopt;
}

void TaskQueue::Settle(size_t task, const ExploreOutcome* outcome) {
  const std::lock_guard lock(mutex_);
  const size_t place = places_.at(task);
  entries_[place].limit = CauseOfLimit(outcome);
  SettleLocked(place);
}

void TaskQueue::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

std::vector<LeftOutKind> TaskQueue::LeftOut() const {
  std::vector<LeftOutKind> kinds;
  for (const Kind& kind : kinds_) {
    if (kind.left_out.empty()) continue;
    LeftOutKind left_out{kind.ended, kind.left_out, {}};
    for (const size_t place : kind.places) {
      if (entries_[place].limit == kind.ended) left_out.shown_by.push_back(entries_[place].task);
    }
    kinds.push_back(std::move(left_out));
  }
  return kinds;
}

bool TaskQueue::IsReady(const Entry& entry) const {
  return tries_all_ || kinds_[entry.kind].settled >= SettledBefore(entry.rank);
}

// Only for an entry that is ready.
bool TaskQueue::IsLeftOut(const Entry& entry) {
  const size_t before = SettledBefore(entry.rank);
  if (tries_all_ || before == 0) return false;
  Kind& kind = kinds_[entry.kind];
  if (kind.ended.empty()) kind.ended = CauseOfMost(kind, before);
  return !kind.ended.empty();
}

void TaskQueue::SettleLocked(size_t place) {
  entries_[place].state = State::kSettled;
  Kind& kind = kinds_[entries_[place].kind];
  while (kind.settled < kind.places.size() &&
         entries_[kind.places[kind.settled]].state == State::kSettled) {
    ++kind.settled;
  }
  changed_.notify_all();
}

// The cause that enough of the first ones of the kind have shown, and at least half of them.
std::string TaskQueue::CauseOfMost(const Kind& kind, size_t first_ones) const {
  std::map<std::string, size_t> counts;
  for (size_t rank = 0; rank < first_ones; ++rank) ++counts[entries_[kind.places[rank]].limit];
  for (const auto& [cause, count] : counts) {
    if (!cause.empty() && count >= kEnoughAlike && count * 2 >= first_ones) return cause;
  }
  return "";
}

}  // namespace caip::explore
