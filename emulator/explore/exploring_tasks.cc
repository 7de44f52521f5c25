#include "emulator/explore/exploring_tasks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "harness/files/lost_files.h"

namespace caip::explore {
namespace {

using harness::CrashPoint;
using harness::Event;
using harness::Evidence;

constexpr size_t kPointsWithoutStorage = 12;
constexpr char kFirstFault[] = "restart";
constexpr char kSecondFault[] = "second restart";

Event EndOfMachine(const CrashPoint& point, int boot) {
  Event exit{.replica = point.replica, .boot = boot};
  exit.body = harness::ExitEvent{0, 9, "kill"};
  return exit;
}

// How often the trigger of a point has counted the same operation before the first restart without
// an event of it: the operation before which, or in which, the machine was taken away, and those of
// files that were open then.
int64_t CountedBefore(const CrashPoint& first, const std::vector<harness::BegunOperation>& begun,
                      const CrashPoint& point, const std::string& glob) {
  if (!point.before || point.kind != CrashPoint::Kind::kStorage) return 0;
  const auto is_it = [&](const std::string& object) {
    return glob.empty() ? object == point.text : harness::GlobMatches(glob, object);
  };
  const auto count = std::ranges::count_if(begun, [&](const harness::BegunOperation& one) {
    return one.replica == point.replica && one.op == point.op && is_it(one.object) &&
           (!point.mid || one.bytes >= *point.mid);
  });
  const bool is_first = first.before && first.kind == point.kind &&
                        first.replica == point.replica && first.op == point.op && is_it(first.text);
  if (count > 0 || !is_first) return count;
  return !point.mid || (first.mid && *point.mid <= *first.mid) ? 1 : 0;
}

// After a change in storage, a step or a line.
bool IsAfterAct(const CrashPoint& point) {
  return !point.before && point.op != "read" && point.op != "list" &&
         point.kind != CrashPoint::Kind::kBoot;
}

std::string TrialSuffixOf(const std::string& replica) {
  return replica.substr(std::min(replica.find('/'), replica.size()));
}

// The other replicas of its job or trial, then storage.
std::vector<std::string> PeersOf(const std::string& replica, const RecordedRun& run) {
  std::set<std::string> others;
  for (const Event& event : run.events) {
    const bool is_other = event.Is<harness::StartEvent>() && event.replica != replica &&
                          TrialSuffixOf(event.replica) == TrialSuffixOf(replica);
    if (is_other) others.insert(event.replica);
  }
  std::vector<std::string> peers(others.begin(), others.end());
  if (run.has_remote_storage) peers.emplace_back(harness::kStoragePeer);
  return peers;
}

}  // namespace

size_t BeginOfRecovery(const ExploreTask& task, const Evidence& whole) {
  const std::vector<Event>& events = whole.events;
  size_t i = task.recorded ? task.prefix : 0;
  const auto ends = [&](const Event& event) {
    return event.Is<harness::ExitEvent>() && event.replica == task.point.replica;
  };
  while (i < events.size() && !ends(events[i])) ++i;
  return std::min(i + 1, events.size());
}

std::string Describe(const ExploreTask& task) {
  return harness::Describe(task.point) +
         (task.second ? ", then " + harness::Describe(*task.second) : "") + SuffixOf(task.what);
}

harness::Scenario WithoutFaults(harness::Scenario scenario) {
  scenario.faults.clear();
  scenario.expectations.clear();
  scenario.shows_bug.clear();
  scenario.service_delays.vm_lifetime.reset();
  return scenario;
}

std::vector<Event> Prefix(const ExploreTask& task) {
  if (!task.events) return {};
  return {task.events->begin(), task.events->begin() + static_cast<ptrdiff_t>(task.prefix)};
}

Evidence JoinRecovery(const ExploreTask& task, Evidence recovery) {
  int boots = 0;
  std::vector<Event> all = Prefix(task);
  for (const Event& event : all) boots = std::max(boots, event.boot);
  all.push_back(EndOfMachine(task.second.value_or(task.point), boots));
  const auto acts = static_cast<size_t>(std::ranges::count_if(all, harness::IsAct));
  for (Event& event : recovery.events) {
    if (event.replica.empty() || event.replica == "service") continue;
    event.boot += boots;
    if (auto* operation = std::get_if<harness::StorageEvent>(&event.body)) {
      for (harness::WrittenPiece& piece : operation->pieces) piece.acts += acts;
    }
    all.push_back(std::move(event));
  }
  int64_t number = 0;
  for (Event& event : all) event.number = ++number;
  recovery.events = std::move(all);
  return recovery;
}

std::vector<harness::BegunOperation> BegunBefore(const ExploreTask& task) {
  if (!task.files) return {};
  return task.files->BegunAt(task.cut);
}

std::vector<CrashPoint> PointsOfRecovery(const ExploreTask& task, const Evidence& whole,
                                         const harness::PointSelection& selection) {
  const size_t begin = BeginOfRecovery(task, whole);
  const size_t changes = harness::CountChanges(whole.events, begin);
  const auto begun = BegunBefore(task);
  std::vector<CrashPoint> points;
  for (CrashPoint& point : harness::FindCrashPoints(whole, selection)) {
    if (point.events < begin + (point.before ? 0 : 1)) continue;
    point.changes -= changes;
    point.nth += CountedBefore(task.point, begun, point, "");
    point.glob_nth += CountedBefore(task.point, begun, point, point.glob);
    points.push_back(std::move(point));
  }
  return points;
}

harness::Scenario WithRestart(const harness::Scenario& scenario, const ExploreTask& task) {
  harness::Scenario restarted = scenario;
  for (const CrashPoint& point : {task.point, task.second.value_or(task.point)}) {
    const char* name = restarted.faults.empty() ? kFirstFault : kSecondFault;
    for (harness::Fault& fault : MakeInterruption(task.what, name, point)) {
      restarted.faults.push_back(std::move(fault));
    }
    if (!task.second) break;
  }
  return restarted;
}

TaskPoints PointsIn(const ExploreTask& task, const Evidence& run) {
  TaskPoints points{harness::PointInRun(task.point, kFirstFault, run.events), {}};
  if (task.second) points.second = harness::PointInRun(*task.second, kSecondFault, run.events);
  return points;
}

bool WasMissed(const Evidence& run) {
  return std::any_of(run.faults.begin(), run.faults.end(), [](const harness::FaultTally& fault) {
    return fault.injected_at.empty() && !fault.if_reached;
  });
}

std::optional<CrashPoint> EarlyPoint(const harness::Baseline& baseline) {
  const std::vector<Event>& events = baseline.run().events;
  size_t first_step = 0;
  while (first_step < events.size() && !events[first_step].Is<harness::StepEvent>()) {
    ++first_step;
  }
  if (first_step == events.size()) return std::nullopt;
  std::optional<CrashPoint> early;
  harness::PointSelection selection{.kinds = {"storage"}, .replicas = {}};
  selection.changing = baseline.changing();
  for (const CrashPoint& point : harness::FindCrashPoints(baseline.run(), selection)) {
    const bool change = point.op != "list" && point.op != "read";
    if (!point.before && change && point.events <= first_step) early = point;
  }
  return early;
}

std::vector<CrashPoint> PointsToTry(const Evidence& baseline, harness::PointSelection selection,
                                    bool by_default) {
  std::vector<CrashPoint> points = harness::FindCrashPoints(baseline, selection);
  std::erase_if(points, [](const CrashPoint& point) { return point.op == "list"; });
  if (!by_default) return points;
  std::set<std::string> silent;
  for (const Event& event : baseline.events) {
    const bool wanted = selection.replicas.empty() || selection.replicas.contains(event.replica);
    if (event.Is<harness::StartEvent>() && wanted) silent.insert(event.replica);
  }
  for (const CrashPoint& point : points) silent.erase(point.replica);
  for (const std::string& replica : silent) {
    std::vector<CrashPoint> more =
        harness::FindCrashPoints(baseline, {{"steps"}, {replica}, false});
    if (more.empty()) more = harness::FindCrashPoints(baseline, {{"logs"}, {replica}, false});
    for (CrashPoint& point : Thinned(more, kPointsWithoutStorage)) {
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::vector<CrashPoint> DiskPoints(const std::vector<Event>& run, const std::vector<Event>& other,
                                   const std::set<std::string>& replicas) {
  harness::PointSelection selection{.kinds = {"disk"}, .replicas = replicas, .torn_writes = true};
  selection.changing = harness::ChangingNames(run, other);
  Evidence evidence;
  evidence.events = run;
  std::vector<CrashPoint> points = harness::FindCrashPoints(evidence, selection);
  std::vector<size_t> of_disk = {0};  // before each event
  for (const Event& event : run) {
    of_disk.push_back(of_disk.back() + (event.Is<harness::DiskEvent>() ? 1 : 0));
  }
  for (CrashPoint& point : points) point.events -= of_disk[point.events];
  return points;
}

std::vector<Event> TakeAllEvents(Evidence& run) {
  std::vector<Event> all = run.events;
  std::erase_if(run.events, [](const Event& event) { return event.Is<harness::DiskEvent>(); });
  return all;
}

namespace {

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

Result<harness::FileTree> FilesOf(const ExploreTask& task, harness::BlockStore& blocks) {
  if (const auto lost = PowerLossOf(task.what)) {
    return harness::AfterPowerLoss(*task.files, task.cut.changes, *lost);
  }
  return task.files->TreeAt(task.cut, blocks);
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
  std::map<std::string, size_t> last;
  for (const CrashPoint& point : run.points) {
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
  for (const CrashPoint& point : run.points) {
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
  using Kind = Interruption::Kind;
  constexpr Kind kKinds[] = {Kind::kCutOff, Kind::kDropped, Kind::kRefused, Kind::kLossy,
                             Kind::kDelayed};
  std::vector<CrashPoint> points;
  std::ranges::copy_if(run.points, std::back_inserter(points), IsAfterAct);
  size_t number = 0;
  for (const CrashPoint& point : Thinned(points, most)) {
    const std::vector<std::string> peers = PeersOf(point.replica, run);
    if (peers.empty()) continue;
    ExploreTask task;
    task.point = point;
    task.what = {kKinds[number % std::size(kKinds)],
                 peers[(number / std::size(kKinds)) % peers.size()]};
    tasks_.push_back(std::move(task));
    ++number;
  }
}

std::set<size_t> TaskList::SampleOfSingles(size_t most) const {
  std::vector<size_t> singles;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const bool is_single = !tasks_[i].second && tasks_[i].what == Interruption::kMachineLost;
    if (is_single) singles.push_back(i);
  }
  singles = Thinned(singles, most);
  return {singles.begin(), singles.end()};
}

}  // namespace caip::explore
