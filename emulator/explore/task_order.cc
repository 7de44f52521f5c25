// Which of many tasks are tried, and which ones first.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emulator/explore/task_list.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

std::string KindOf(const ExploreTask& task) {
  std::string kind;
  for (const harness::CrashPoint& point : {task.point, task.second.value_or(task.point)}) {
    harness::CrashPoint plain = point;
    plain.nth = plain.glob_nth = 1;
    const bool begins = point.mid && *point.mid == 0;
    kind += harness::WithoutNumbers(harness::Describe(plain)) + (begins ? " (begins)" : "") + "\n";
  }
  return kind + Describe(task.what, harness::CrashPoint{});
}

namespace {

// The indices of each kind's tasks from `from` on. The kinds are in the order of their first tasks.
std::vector<std::vector<size_t>> KindsAmong(const std::vector<ExploreTask>& tasks, size_t from) {
  std::map<std::string, size_t> places;
  std::vector<std::vector<size_t>> kinds;
  for (size_t i = from; i < tasks.size(); ++i) {
    const auto [place, is_new] = places.emplace(KindOf(tasks[i]), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[place->second].push_back(i);
  }
  return kinds;
}

// An index below `count`. The turns 0, 1, 2, ... lie evenly, however many they are: with base 2, at
// 1/2, 1/4, 3/4, 1/8 and so on (van der Corput's sequence).
size_t SpreadIndex(size_t turn, size_t base, size_t count) {
  size_t above = 0;
  size_t below = 1;
  for (size_t rest = turn + 1; rest > 0; rest /= base) {
    above = above * base + rest % base;
    below *= base;
  }
  return above * count / below;
}

}  // namespace

// First one of each kind, then the last one of each, then from halves, quarters and so on.
std::vector<size_t> TaskList::MostDifferentFirst(size_t from) const {
  const std::vector<std::vector<size_t>> kinds = KindsAmong(tasks_, from);
  std::vector<size_t> order;
  std::vector<bool> taken(tasks_.size(), false);
  const auto take = [&](size_t index) {
    if (!taken[index]) order.push_back(index);
    taken[index] = true;
  };
  for (const std::vector<size_t>& alike : kinds) take(alike.front());
  for (size_t parts = 1; order.size() < tasks_.size() - from; parts *= 2) {
    for (const std::vector<size_t>& alike : kinds) {
      for (size_t part = 1; part <= std::min(parts, alike.size()); ++part) {
        take(alike[part * (alike.size() - 1) / std::min(parts, alike.size())]);
      }
    }
    if (parts < tasks_.size()) continue;
    for (size_t i = from; i < tasks_.size(); ++i) take(i);
  }
  return order;
}

// The kind and the place among its tasks are independent of each other, by two bases.
void TaskList::KeepOne(size_t from, size_t turn) {
  if (from >= tasks_.size()) return;
  const std::vector<std::vector<size_t>> kinds = KindsAmong(tasks_, from);
  const std::vector<size_t>& alike = kinds[SpreadIndex(turn, 2, kinds.size())];
  const ExploreTask kept = tasks_[alike[SpreadIndex(turn, 3, alike.size())]];
  for (size_t i = from; i < tasks_.size(); ++i) {
    if (tasks_[i].recorded) seen_.erase(tasks_[i].state);
  }
  if (kept.recorded) seen_.insert(kept.state);
  tasks_.resize(from);
  tasks_.push_back(kept);
}

size_t TaskList::ThinOut(size_t from, size_t most) {
  const size_t all = tasks_.size() - from;
  if (all <= most) return all;
  std::vector<size_t> kept = MostDifferentFirst(from);
  kept.resize(most);
  std::ranges::sort(kept);
  std::vector<ExploreTask> some;
  for (const size_t index : kept) some.push_back(std::move(tasks_[index]));
  tasks_.resize(from);
  std::ranges::move(some, std::back_inserter(tasks_));
  return all;
}

}  // namespace caip::explore
