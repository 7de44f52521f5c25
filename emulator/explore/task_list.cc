#include "emulator/explore/task_list.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "harness/files/lost_files.h"

namespace caip::explore {
namespace {

using harness::CrashPoint;
using harness::Event;

// After a change in storage, a step or a line.
bool IsAfterAct(const CrashPoint& point) {
  return !point.before && point.op != "read" && point.op != "list" &&
         point.kind != CrashPoint::Kind::kBoot;
}

std::string TrialSuffixOf(const std::string& replica) {
  return replica.substr(std::min(replica.find('/'), replica.size()));
}

// The other replicas of its job or trial, and storage. Storage is the second one: a sample may have
// fewer tasks than a large cluster has replicas.
std::vector<std::string> PeersOf(const std::string& replica, const RecordedRun& run) {
  std::set<std::string> others;
  for (const Event& event : run.events) {
    const bool is_other = event.Is<harness::StartEvent>() && event.replica != replica &&
                          TrialSuffixOf(event.replica) == TrialSuffixOf(replica);
    if (is_other) others.insert(event.replica);
  }
  std::vector<std::string> peers(others.begin(), others.end());
  if (!run.has_remote_storage) return peers;
  peers.emplace(peers.begin() + (peers.empty() ? 0 : 1), harness::kStoragePeer);
  return peers;
}

// The fault of that number, from 0 on. The kind and the peer change from each fault to the next.
// The pairs of both would repeat after `period` faults, so the peer moves one further then: each
// kind meets each peer once in five times as many faults as there are peers.
Interruption NetworkFaultOf(size_t number, const std::vector<std::string>& peers) {
  using Kind = Interruption::Kind;
  constexpr Kind kKinds[] = {Kind::kCutOff, Kind::kDropped, Kind::kRefused, Kind::kLossy,
                             Kind::kDelayed};
  const size_t period = std::lcm(std::size(kKinds), peers.size());
  return {kKinds[number % std::size(kKinds)], peers[(number + number / period) % peers.size()]};
}

/// Makes the tasks of a recorded run. `run` must outlive it.
class RecordedStates {
 public:
  explicit RecordedStates(const RecordedRun& run)
      : run_(run), events_(std::make_shared<const std::vector<Event>>(run.events)) {
    for (size_t i = 0; i < run.events.size(); ++i) {
      const bool counts = i >= run.begin && harness::IsAct(run.events[i]);
      acts_.push_back(acts_.back() + (counts ? 1 : 0));
    }
  }

  /// A recovery from the state at the point. nullopt if that state was not recorded.
  std::optional<ExploreTask> TaskAt(const CrashPoint& point,
                                    const std::optional<CrashPoint>& first) const {
    const size_t change = run_.has_directories ? 0 : point.changes;
    if (change >= run_.states.size()) return std::nullopt;
    ExploreTask task;
    task.point = first.value_or(point);
    if (first) task.second = point;
    task.recorded = true;
    task.begin = run_.states[change];
    task.files = run_.files;
    if (task.files) task.cut = CutOf(point, first);
    task.events = events_;
    task.prefix = point.events;
    task.state = scenario::KeyOf(task.begin) + (task.files ? task.files->KeyAt(task.cut) : "");
    return task;
  }

 private:
  // The moment of the log of files at which the machine goes away.
  harness::FileCut CutOf(CrashPoint point, const std::optional<CrashPoint>& first) const {
    if (first) point.nth -= CountedBefore(*first, run_.begun, point, "");
    return run_.files->CutAt(point, acts_[std::min(point.events, acts_.size() - 1)]);
  }

  const RecordedRun& run_;
  std::shared_ptr<const std::vector<Event>> events_;
  std::vector<size_t> acts_ = {0};  // before each event
};

/// Counts the changes that outlive a restart of the only replica of a run.
class LastingChanges {
 public:
  explicit LastingChanges(const RecordedRun& run) : disk_(*run.disk_changes) {
    for (const Event& event : run.events) {
      const auto* operation = event.As<harness::StorageEvent>();
      const bool is_change = operation && operation->op != "read" && operation->op != "list";
      in_storage_.push_back(in_storage_.back() + (is_change ? 1 : 0));
    }
  }

  /// A change of the disk comes between two events: before the later one, after the earlier one.
  size_t Before(const CrashPoint& point) const {
    const auto end = point.before ? std::ranges::upper_bound(disk_, point.events)
                                  : std::ranges::lower_bound(disk_, point.events);
    return in_storage_[std::min(point.events, in_storage_.size() - 1)] +
           static_cast<size_t>(end - disk_.begin());
  }

 private:
  const std::vector<size_t>& disk_;
  std::vector<size_t> in_storage_ = {0};  // before each event
};

// The points before which something lasting has changed since the one before it, or since the first
// restart: without a change, the second restart shows what the first one shows.
std::vector<CrashPoint> PointsAfterChanges(const RecordedRun& run) {
  const LastingChanges changes(run);
  CrashPoint begin;
  begin.before = true;
  begin.events = run.begin;
  size_t known = changes.Before(begin);
  std::vector<CrashPoint> points;
  for (const CrashPoint& point : run.points) {
    const size_t now = changes.Before(point);
    if (!point.mid && now == known) continue;
    if (!point.mid) known = now;
    points.push_back(point);
  }
  return points;
}

bool LosesMemoryAtOnce(const Interruption& what) {
  return what == Interruption::kMachineLost || what == Interruption::kProcessKilled;
}

}  // namespace

void TaskList::AddRecorded(const RecordedRun& run, const std::optional<CrashPoint>& first) {
  const RecordedStates states(run);
  for (const CrashPoint& point : run.points) {
    auto task = states.TaskAt(point, first);
    if (!task) continue;
    // Only after the first restart does it matter how many steps led to the same bytes.
    if (seen_.insert(task->state).second) {
      tasks_.push_back(*std::move(task));
    } else if (!first) {
      equals_.push_back({point, std::move(task->state)});
    }
  }
}

void TaskList::AddPowerLosses(const RecordedRun& run, size_t most) {
  if (!run.files) return;
  const size_t begin = tasks_.size();
  const RecordedStates states(run);
  for (const CrashPoint& point : run.points) {
    if (point.kind != CrashPoint::Kind::kStorage || !IsAfterAct(point)) continue;
    if (auto task = states.TaskAt(point, std::nullopt)) tasks_.push_back(*std::move(task));
  }
  ThinOut(begin, most);
  const std::vector<ExploreTask> chosen(tasks_.begin() + static_cast<ptrdiff_t>(begin),
                                        tasks_.end());
  tasks_.resize(begin);
  for (const ExploreTask& at : chosen) {
    for (const harness::PowerLoss lost : harness::kPowerLosses) {
      ExploreTask task = at;
      task.what = FailureOfPower(lost);
      const auto left = harness::AfterPowerLoss(*task.files, task.cut.changes, lost);
      task.state = scenario::KeyOf(task.begin) + std::to_string(left.Key());
      if (seen_.insert(task.state).second) tasks_.push_back(std::move(task));
    }
  }
}

void TaskList::AddWhole(const RecordedRun& run, const std::optional<CrashPoint>& first,
                        const Interruption& what) {
  const bool only_changes_count = first && run.disk_changes && LosesMemoryAtOnce(what);
  std::map<std::string, size_t> last;
  for (const CrashPoint& point : only_changes_count ? PointsAfterChanges(run) : run.points) {
    const auto found = last.find(point.replica);
    bool between = found == last.end();
    const size_t from = between ? 0 : found->second;
    for (size_t i = from; i < point.events && !between; ++i) {
      between = run.events[i].replica == point.replica;
    }
    if (point.before && !between && !point.mid) continue;
    if (!point.before) last[point.replica] = point.events;
    ExploreTask task;
    task.point = first.value_or(point);
    if (first) task.second = point;
    task.what = what;
    tasks_.push_back(std::move(task));
  }
}

void TaskList::AddStorageErrors(const RecordedRun& run) {
  for (const CrashPoint& point : run.storage_points) {
    if (point.kind != CrashPoint::Kind::kStorage || point.mid) continue;
    const bool is_change = point.op != "read" && point.op != "list";
    if (!point.before && !is_change) continue;
    ExploreTask task;
    task.point = point;
    task.what = Interruption::kStorageError;
    tasks_.push_back(std::move(task));
  }
}

void TaskList::AddAfterActs(const RecordedRun& run, const Interruption& what, size_t most) {
  std::vector<CrashPoint> points;
  std::ranges::copy_if(run.points, std::back_inserter(points), IsAfterAct);
  AddAt(points, what, most);
}

void TaskList::AddAtStorage(const RecordedRun& run, const Interruption& what, size_t most) {
  std::vector<CrashPoint> points;
  std::ranges::copy_if(run.points, std::back_inserter(points), [](const CrashPoint& point) {
    return point.kind == CrashPoint::Kind::kStorage && IsAfterAct(point) && !point.mid;
  });
  AddAt(points, what, most);
}

void TaskList::AddInWrites(const RecordedRun& run, const Interruption& what, size_t most) {
  std::vector<CrashPoint> points;
  std::ranges::copy_if(run.points, std::back_inserter(points), [](const CrashPoint& point) {
    return point.kind == CrashPoint::Kind::kStorage && point.mid;
  });
  AddAt(points, what, most);
}

void TaskList::AddAt(const std::vector<CrashPoint>& points, const Interruption& what, size_t most) {
  const size_t all = tasks_.size();
  for (const CrashPoint& point : points) {
    ExploreTask task;
    task.point = point;
    task.what = what;
    tasks_.push_back(std::move(task));
  }
  ThinOut(all, most);
}

void TaskList::AddNetworkFaults(const RecordedRun& run, size_t most) {
  std::vector<CrashPoint> points;
  std::ranges::copy_if(run.points, std::back_inserter(points), IsAfterAct);
  size_t number = 0;
  for (const CrashPoint& point : Thinned(points, most)) {
    const std::vector<std::string> peers = PeersOf(point.replica, run);
    if (peers.empty()) continue;
    ExploreTask task;
    task.point = point;
    task.what = NetworkFaultOf(number++, peers);
    tasks_.push_back(std::move(task));
  }
}

std::set<size_t> TaskList::SampleOfSingles(size_t most, bool with_kept) const {
  std::vector<size_t> singles;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const Interruption& what = tasks_[i].what;
    const bool counts =
        what == Interruption::kMachineLost || (with_kept && what == Interruption::kProcessKilled);
    if (!tasks_[i].second && counts) singles.push_back(i);
  }
  singles = Thinned(singles, most);
  return {singles.begin(), singles.end()};
}

}  // namespace caip::explore
