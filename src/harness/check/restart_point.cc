#include "harness/check/restart_point.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/check/file_places.h"
#include "harness/check/run_evidence.h"
#include "harness/explorer/baseline.h"

namespace caip::harness {
namespace {

constexpr int64_t kEndPart = 10;  // the last tenth of a run is its end

bool IsOf(const Event& event, const std::string& replica, int boot) {
  return (replica.empty() || event.replica == replica) && (boot == 0 || event.boot == boot);
}

bool LeavesAFile(const std::string& op) {
  return op != "read" && op != "list" && op != "delete" && op != "mkdir";
}

bool IsCheckedName(const std::string& name) {
  return !name.empty() && !name.starts_with(kDiskPrefix) &&
         name.find(".tfevents.") == std::string::npos;
}

/// The writes of a run, in order.
class WriteList {
 public:
  void Take(const Event& event) {
    const StorageEvent* operation = FindOperation(event);
    if (!operation || operation->failed || !LeavesAFile(operation->op)) return;
    if (operation->op == "rename") {
      TakeRename(event, *operation);
    } else {
      Add(event, operation->object);
    }
  }
  std::vector<ReplicaWrite> Release() && { return std::move(writes_); }

 private:
  void Add(const Event& event, const std::string& name) {
    if (!IsCheckedName(name)) return;
    newest_[name] = writes_.size();
    writes_.push_back({&event, name});
  }

  // Renames the files. A directory may be renamed, too. What an earlier boot of the replica wrote
  // keeps the name that it had then.
  void TakeRename(const Event& event, const StorageEvent& rename) {
    std::vector<std::pair<std::string, size_t>> moved;
    for (auto at = newest_.lower_bound(rename.object);
         at != newest_.end() && at->first.starts_with(rename.object);) {
      if (!IsBelow(at->first, rename.object)) {
        ++at;
        continue;
      }
      moved.emplace_back(rename.from + at->first.substr(rename.object.size()), at->second);
      at = newest_.erase(at);
    }
    if (moved.empty()) Add(event, rename.from);
    for (auto& [name, index] : moved) {
      ReplicaWrite& write = writes_[index];
      const bool is_older = write.event->replica == event.replica && write.event->boot < event.boot;
      if (!is_older) write.object = name;
      newest_[std::move(name)] = index;
    }
  }

  std::vector<ReplicaWrite> writes_;
  std::map<std::string, size_t> newest_;  // the last write of each name
};

// The begin and the end of the replica's last boot.
std::pair<Instant, Instant> SpanOf(const CheckRun& run, const std::string& replica) {
  std::pair<Instant, Instant> span{};
  for (const Event& event : run.evidence.events) {
    if (event.replica != replica) continue;
    if (event.Is<LiveEvent>()) span.first = event.time;
    if (event.Is<ExitEvent>()) span.second = event.time;
  }
  return span;
}

// The middle of the work of one replica.
std::optional<CrashPoint> FindMiddleOf(const CheckRun& plain, const std::string& replica) {
  PointSelection selection;
  selection.kinds = {"storage", "steps"};
  selection.replicas = {replica};
  std::vector<CrashPoint> steps;
  std::vector<CrashPoint> writes;
  std::vector<CrashPoint> changes;  // the writes, and new directories
  for (CrashPoint& point : FindCrashPoints(plain.evidence, selection)) {
    if (point.kind == CrashPoint::Kind::kStep) {
      steps.push_back(std::move(point));
      continue;
    }
    if (point.before || point.mid) continue;
    if (LeavesAFile(point.op)) writes.push_back(point);
    if (LeavesAFile(point.op) || point.op == "mkdir") changes.push_back(std::move(point));
  }
  if (steps.size() > 1) {
    steps.pop_back();  // after the last step there may be no work left to lose
    const size_t saved = writes.empty() ? 0 : writes.front().events;
    std::vector<CrashPoint> after;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(after),
                 [saved](const CrashPoint& step) { return step.events > saved; });
    return after.empty() ? steps[steps.size() / 2] : after[after.size() / 2];
  }
  const std::vector<CrashPoint>& choice = writes.size() > 1 ? writes : changes;
  if (choice.size() > 1) return choice[(choice.size() - 1) / 2];
  return std::nullopt;
}

// Things like a configuration: written before the first of several steps, and not again. One step
// alone may follow the save of its own state.
void RemoveConfigurations(const std::vector<ReplicaStep>& steps,
                          std::vector<ReplicaWrite>& writes) {
  if (steps.size() < 2) return;
  const int64_t first_step = steps.front().event->number;
  std::set<std::string> later;
  for (const ReplicaWrite& write : writes) {
    if (write.event->number > first_step) later.insert(WithoutNumbers(write.object));
  }
  std::erase_if(writes, [&](const ReplicaWrite& write) {
    return write.event->number < first_step && !later.contains(WithoutNumbers(write.object));
  });
}

/// The writes that replicas make again later.
class LaterSaves {
 public:
  LaterSaves(const CheckRun& run, const std::vector<ReplicaWrite>& writes) {
    for (const Event& event : run.evidence.events) {
      if (FindPrintedLine(event)) lines_[event.replica].push_back(event.number);
    }
    for (const ReplicaWrite& write : writes) {
      same_[KeyOf(write, write.object)] = write.event->number;
      alike_[KeyOf(write, WithoutNumbers(write.object))] = write.event->number;
    }
  }

  // Parts of one result are written one after the other, without output between them, or have names
  // like model-1-of-3.
  bool Has(const ReplicaWrite& write) const {
    const int64_t number = write.event->number;
    if (same_.at(KeyOf(write, write.object)) > number) return true;
    const std::string pattern = WithoutNumbers(write.object);
    if (pattern.find("#-of-#") != std::string::npos) return false;
    const auto lines = lines_.find(write.event->replica);
    if (lines == lines_.end()) return false;
    const auto next = std::ranges::upper_bound(lines->second, number);
    return next != lines->second.end() && *next < alike_.at(KeyOf(write, pattern));
  }

 private:
  using Key = std::pair<std::string, std::string>;
  static Key KeyOf(const ReplicaWrite& write, const std::string& name) {
    return {write.event->replica, name};
  }

  std::map<Key, int64_t> same_;   // the last write of the name, by its number in the event list
  std::map<Key, int64_t> alike_;  // the same, by the name without numbers
  std::map<std::string, std::vector<int64_t>> lines_;  // of each replica
};

// Names that the run renames and that do not exist at its end.
std::set<std::string> FindTemporaryNames(const CheckRun& run) {
  const auto& objects = run.evidence.objects;
  std::set<std::string> names;
  for (const Event& event : run.evidence.events) {
    const StorageEvent* operation = FindOperation(event);
    if (!operation || operation->failed || operation->op != "rename") continue;
    const auto below = objects.lower_bound(operation->object + "/");
    const bool is_there = objects.contains(operation->object) ||
                          (below != objects.end() && IsBelow(below->first, operation->object));
    if (!is_there) names.insert(operation->object);
  }
  return names;
}

// Files that were written once under a temporary name and were to be renamed. A file that is saved
// again and again under one name is complete, even if the name changes at the end.
void RemoveUnfinished(const CheckRun& run, std::vector<ReplicaWrite>& writes) {
  const std::set<std::string> temporary = FindTemporaryNames(run);
  std::map<std::string, int> counts;
  for (const ReplicaWrite& write : writes) ++counts[write.object];
  std::erase_if(writes, [&](const ReplicaWrite& write) {
    return counts[write.object] == 1 &&
           std::ranges::any_of(
               temporary, [&](const std::string& place) { return IsBelow(write.object, place); });
  });
}

}  // namespace

std::string Shown(const ReplicaWrite& write) {
  const bool is_renamed = write.object != write.first_name();
  return Shown(*write.event) + (is_renamed ? ", renamed to " + write.object : "");
}

std::string MasterOf(const CheckRun& run) {
  for (const LaunchedReplica& launched : run.launched) {
    if (RoleOf(launched.replica) == "master") return launched.replica;
  }
  return run.launched.empty() ? "master-0" : run.launched.front().replica;
}

std::vector<ReplicaWrite> WritesOf(const CheckRun& run, const std::string& replica, int boot) {
  WriteList list;
  for (const Event& event : run.evidence.events) list.Take(event);
  std::vector<ReplicaWrite> writes = std::move(list).Release();
  std::erase_if(writes, [&](const ReplicaWrite& write) {
    return !IsOf(*write.event, replica, boot) || !IsCheckedName(write.object);
  });
  return writes;
}

std::vector<ReplicaStep> StepsOf(const CheckRun& run, const std::string& replica, int boot) {
  std::vector<ReplicaStep> steps;
  for (const Event& event : run.evidence.events) {
    const auto* step = event.As<StepEvent>();
    if (step && IsOf(event, replica, boot)) steps.push_back({&event, step->step});
  }
  return steps;
}

std::vector<ReplicaWrite> SavesOf(const CheckRun& plain) {
  const std::string master = MasterOf(plain);
  std::vector<ReplicaWrite> writes = WritesOf(plain, "");  // any replica may save
  const auto steps = StepsOf(plain, master);
  const auto [begin, end] = SpanOf(plain, master);
  const Instant last_part = end - (end - begin) / kEndPart;
  RemoveConfigurations(steps, writes);
  const LaterSaves later(plain, writes);
  std::erase_if(writes, [&](const ReplicaWrite& write) {
    return steps.empty() ? write.event->time > last_part && !later.Has(write)
                         : write.event->number > steps.back().event->number;
  });
  return writes;
}

bool SavesSomething(const CheckRun& run, const std::string& replica, int boot) {
  std::vector<ReplicaWrite> writes = WritesOf(run, replica, boot);
  RemoveConfigurations(StepsOf(run, replica, boot), writes);
  RemoveUnfinished(run, writes);
  return !writes.empty();
}

std::optional<CrashPoint> FindMiddle(const CheckRun& plain) {
  return FindMiddleOf(plain, MasterOf(plain));
}

std::optional<CrashPoint> FindRestartPoint(const CheckRun& plain) {
  if (auto middle = FindMiddle(plain)) return middle;
  for (const LaunchedReplica& launched : plain.launched) {
    if (auto middle = FindMiddleOf(plain, launched.replica)) return middle;
  }
  return std::nullopt;
}

std::string RestartedReplicaOf(const CheckSession& session) {
  const auto plain = session.runs.find("plain");
  const auto point = plain == session.runs.end() ? std::nullopt : FindRestartPoint(plain->second);
  return point ? point->replica : MasterOf(session.Run("maintenance"));
}

}  // namespace caip::harness
