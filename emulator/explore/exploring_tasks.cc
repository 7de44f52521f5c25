#include "emulator/explore/exploring_tasks.h"

#include <algorithm>
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

}  // namespace

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

void MixInDiskPoints(RecordedRun& run) {
  run.points.insert(run.points.end(), run.disk_points.begin(), run.disk_points.end());
  std::ranges::stable_sort(run.points, {}, &CrashPoint::events);
}

std::vector<size_t> DiskChangesIn(const std::vector<Event>& all) {
  std::vector<size_t> changes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].Is<harness::DiskEvent>()) changes.push_back(i - changes.size());
  }
  return changes;
}

std::vector<Event> TakeAllEvents(Evidence& run) {
  std::vector<Event> all = run.events;
  std::erase_if(run.events, [](const Event& event) { return event.Is<harness::DiskEvent>(); });
  return all;
}

Result<harness::FileTree> FilesOf(const ExploreTask& task, harness::BlockStore& blocks) {
  if (const auto lost = PowerLossOf(task.what)) {
    return harness::AfterPowerLoss(*task.files, task.cut.changes, *lost);
  }
  return task.files->TreeAt(task.cut, blocks);
}

}  // namespace caip::explore
