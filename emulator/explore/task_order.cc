// Which of many tasks are tried, and which ones first.

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emulator/explore/task_list.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

namespace {

// Equal for tasks that are alike but for numbers: "after create ckpt-#/weights by master-#".
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

}  // namespace

// First one of each kind, then the last one of each, then from halves, quarters and so on.
std::vector<size_t> TaskList::MostDifferentFirst(size_t from) const {
  std::map<std::string, std::vector<size_t>> kinds;
  std::vector<std::string> names;  // in the order of their first tasks
  for (size_t i = from; i < tasks_.size(); ++i) {
    std::string name = KindOf(tasks_[i]);
    std::vector<size_t>& alike = kinds[name];
    if (alike.empty()) names.push_back(std::move(name));
    alike.push_back(i);
  }
  std::vector<size_t> order;
  std::vector<bool> taken(tasks_.size(), false);
  const auto take = [&](size_t index) {
    if (!taken[index]) order.push_back(index);
    taken[index] = true;
  };
  for (const std::string& name : names) take(kinds[name].front());
  for (size_t parts = 1; order.size() < tasks_.size() - from; parts *= 2) {
    for (const std::string& name : names) {
      const std::vector<size_t>& alike = kinds[name];
      for (size_t part = 1; part <= std::min(parts, alike.size()); ++part) {
        take(alike[part * (alike.size() - 1) / std::min(parts, alike.size())]);
      }
    }
    if (parts < tasks_.size()) continue;
    for (size_t i = from; i < tasks_.size(); ++i) take(i);
  }
  return order;
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
