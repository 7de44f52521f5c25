#include "emulator/explore/plan.h"

#include <algorithm>
#include <optional>

#include "emulator/explore/baseline_facts.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/resumption.h"
#include "emulator/scenario/run_isolation.h"

namespace caip::explore {
namespace {

using harness::CrashPoint;

// Restarts that keep the disk, unless more are asked for: at operations of storage, in the middle
// of writing a file on the disk, and before and after such a write.
constexpr size_t kKeptSample = 3;
constexpr size_t kTornSample = 2;
constexpr size_t kAroundSample = 2;
constexpr size_t kSlowSample = 8;  // of each fault that takes seconds
constexpr size_t kNetworkSample = 20;
constexpr size_t kPowerLossSample = 40;    // changes of files, each with up to four failures
constexpr size_t kFailureSample = 3;       // of each replica, and one after its last change
constexpr int64_t kPointsForAFailure = 4;  // with fewer points, no program fails
constexpr size_t kPairsSample = 8;  // recoveries with one second restart, unless more are asked for

// The run with its changes of replicas' disks as its crash points.
RecordedRun AtDiskPoints(const RecordedRun& run) {
  return {.events = run.events, .points = run.disk_points};
}

// Samples get a small part of the points.
size_t AtMostATenth(size_t wanted, int64_t points_max) {
  return std::min(wanted, static_cast<size_t>(points_max) / 10);
}

// After the changes that the replica makes in storage.
std::vector<CrashPoint> ChangesOf(const harness::Evidence& baseline, const std::string& replica) {
  auto points = harness::FindCrashPoints(baseline, {{"storage"}, {replica}, false});
  std::erase_if(points, [](const CrashPoint& point) {
    return point.before || point.op == "read" || point.op == "list";
  });
  return points;
}

// The middle one of the points, the last one and the first one.
std::vector<CrashPoint> MiddleFirst(const std::vector<CrashPoint>& all) {
  if (all.size() <= kFailureSample) return all;
  return {all[all.size() / 2], all.back(), all.front()};
}

// The points at which the replica may fail with something to lose, the most useful ones first.
std::vector<CrashPoint> FailurePointsOf(const harness::Evidence& baseline,
                                        const std::string& replica) {
  std::vector<CrashPoint> changes = ChangesOf(baseline, replica);
  if (changes.empty()) return {};
  const CrashPoint first = changes.front();
  const CrashPoint last = changes.back();
  auto steps = harness::FindCrashPoints(baseline, {{"steps"}, {replica}, false});
  if (!steps.empty()) steps.pop_back();  // nothing is left to do after it
  std::erase_if(steps, [&](const CrashPoint& step) { return step.events <= first.events; });
  changes.pop_back();
  std::vector<CrashPoint> points = MiddleFirst(steps.empty() ? changes : steps);
  points.insert(points.begin() + (points.empty() ? 0 : 1), last);
  return points;
}

}  // namespace

void Plan::AddSingles(const RecordedRun& baseline, bool use_record) {
  if (options_.disks != Disks::kKept && use_record) {
    tasks_.AddRecorded(baseline, std::nullopt);
  } else if (options_.disks != Disks::kKept) {
    tasks_.AddWhole(baseline, std::nullopt, Interruption::kMachineLost);
  }
  if (options_.disks != Disks::kNew) {
    tasks_.AddWhole(baseline, std::nullopt, Interruption::kProcessKilled);
    if (!options_.points.kinds.contains("disk")) {  // else they are among the others
      tasks_.AddWhole(AtDiskPoints(baseline), std::nullopt, Interruption::kProcessKilled);
    }
  }
  if (options_.notice) tasks_.AddWhole(baseline, std::nullopt, Interruption::kNotice);
  if (options_.storage_errors) tasks_.AddStorageErrors(baseline);
  AddSamples(baseline);
  if (options_.network) AddNetworkSample(baseline);
  if (options_.power_loss) AddPowerLossSample(baseline, use_record);
  const size_t kept = KeptSample();
  const size_t failures = FailureSample(baseline);
  ThinOut(0, static_cast<size_t>(options_.points_max) - kept - failures - PairsSample(), "points");
  if (kept > 0) AddKeptSample(baseline, kept);
  const std::vector<CrashPoint> chosen(
      baseline.failure_points.begin(),
      baseline.failure_points.begin() + static_cast<ptrdiff_t>(failures));
  tasks_.AddAtPoints(chosen, Interruption::kProgramFails, failures);
  ChooseDeepened();
}

void Plan::AddKeptSample(const RecordedRun& baseline, size_t most) {
  const size_t all = tasks_.size();
  AddKept(baseline, kKeptSample);
  RecordedRun at_disk = AtDiskPoints(baseline);
  RecordedRun torn = at_disk;
  std::erase_if(torn.points, [](const auto& point) { return !point.mid; });
  std::erase_if(at_disk.points, [](const auto& point) { return point.mid.has_value(); });
  AddKept(torn, kTornSample);
  AddKept(at_disk, kAroundSample);
  tasks_.ThinOut(all, most);
}

void Plan::AddSamples(const RecordedRun& baseline) {
  const size_t most = AtMostATenth(kSlowSample, options_.points_max);
  const std::string storage(harness::kStoragePeer);
  if (options_.second_notice) {
    tasks_.AddAfterActs(baseline, Interruption::kSecondNotice, most);
  }
  if (options_.hangs) tasks_.AddAfterActs(baseline, Interruption::kHang, most);
  if (options_.slow_storage) tasks_.AddAtStorage(baseline, Interruption::kSlowStorage, most);
  if (options_.full_disks) tasks_.AddInWrites(baseline, Interruption::kFullVolumes, most);
  if (options_.full_disks) AddFullDisks(baseline);
  if (options_.network_cuts) {
    tasks_.AddAtStorage(baseline, {Interruption::kCutOff, storage}, most);
  }
}

// Each replica has a disk of its own.
void Plan::AddFullDisks(const RecordedRun& baseline) {
  std::map<std::string, std::vector<CrashPoint>> writes;  // by replica
  for (const CrashPoint& point : baseline.disk_points) {
    if (point.mid) writes[point.replica].push_back(point);
  }
  const size_t most = AtMostATenth(kSlowSample * writes.size(), options_.points_max);
  const size_t all = tasks_.size();
  for (const auto& [replica, points] : writes) {
    tasks_.AddAtPoints(points, Interruption::kFullDisk, std::max<size_t>(1, most / writes.size()));
  }
  tasks_.ThinOut(all, most);
}

void Plan::AddNetworkSample(const RecordedRun& baseline) {
  tasks_.AddNetworkFaults(baseline, AtMostATenth(kNetworkSample, options_.points_max));
}

// Without a record it is not known which failures differ: those that lose the most are tried.
void Plan::AddPowerLossSample(const RecordedRun& baseline, bool use_record) {
  const size_t most = AtMostATenth(kPowerLossSample, options_.points_max);
  if (use_record) return tasks_.AddPowerLosses(baseline, most);
  for (const harness::PowerLoss lost :
       {harness::PowerLoss::kContents, harness::PowerLoss::kNames}) {
    const size_t all = tasks_.size();
    tasks_.AddWhole(baseline, std::nullopt, FailureOfPower(lost));
    tasks_.ThinOut(all, most / 2);
  }
}

void Plan::AddKept(const RecordedRun& run, size_t most) {
  const size_t all = tasks_.size();
  tasks_.AddWhole(run, std::nullopt, Interruption::kProcessKilled);
  tasks_.ThinOut(all, most);
}

void Plan::AddPairs(std::map<size_t, RecordedRun>& recoveries) {
  const size_t singles = tasks_.size();
  size_t turn = 0;  // of the recoveries with a second restart
  for (auto& [index, recovery] : recoveries) {
    const ExploreTask first = tasks_[index];
    const size_t end = CaughtUpAt(recovery.events, recovery.begin, first.point.replica);
    std::erase_if(recovery.points,
                  [end](const harness::CrashPoint& point) { return point.events > end + 1; });
    const size_t before = tasks_.size();
    first.recorded ? tasks_.AddRecorded(recovery, first.point)
                   : tasks_.AddWhole(recovery, first.point, first.what);
    if (options_.pairs != Pairs::kSample || tasks_.size() == before) continue;
    tasks_.KeepOne(before, turn++);
  }
  if (options_.pairs == Pairs::kAll) {
    ThinOut(singles, static_cast<size_t>(options_.points_max), "pairs");
  }
}

size_t Plan::FailureSample(const RecordedRun& baseline) const {
  const size_t most = baseline.failure_points.size();
  const bool is_one_of_few = most > 0 && options_.points_max >= kPointsForAFailure;
  return std::max<size_t>(AtMostATenth(most, options_.points_max), is_one_of_few ? 1 : 0);
}

size_t Plan::KeptSample() const {
  const bool is_wanted = options_.disks == Disks::kNew && options_.kept_sample;
  const size_t most = kKeptSample + kTornSample + kAroundSample;
  return is_wanted ? AtMostATenth(most, options_.points_max) : 0;
}

size_t Plan::PairsSample() const {
  return options_.pairs == Pairs::kSample ? AtMostATenth(kPairsSample, options_.points_max) : 0;
}

void Plan::ChooseDeepened() {
  // By default a few restarts keep the disk. Second ones belong to those that lose it.
  const bool with_kept = options_.disks != Disks::kNew;
  if (options_.pairs == Pairs::kSample) {
    deepened_ = tasks_.SampleOfSingles(PairsSample(), with_kept);
  }
  if (options_.pairs != Pairs::kAll) return;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const bool is_over = tasks_[i].what == Interruption::kProgramFails;  // the job
    if (Restarts(tasks_[i].what) && !is_over) deepened_.insert(i);
  }
}

void Plan::ThinOut(size_t from, size_t most, const std::string& what) {
  const size_t all = tasks_.ThinOut(from, most);
  if (all <= most) return;
  reduced_ = "reduced to " + std::to_string(most) + " of " + std::to_string(all) + " " + what +
             " (--max-points)";
}

std::vector<harness::CrashPoint> FailurePoints(const harness::Evidence& baseline,
                                               const std::set<std::string>& replicas) {
  std::vector<std::vector<CrashPoint>> lists;  // of the replicas; the first pool comes first
  for (const std::string& replica : ReplicasOf(baseline)) {
    if (!replicas.empty() && !replicas.contains(replica)) continue;
    lists.push_back(FailurePointsOf(baseline, replica));
  }
  if (lists.empty()) return {};
  std::vector<CrashPoint> points = std::move(lists.front());
  for (size_t turn = 0; turn <= kFailureSample; ++turn) {
    for (size_t i = 1; i < lists.size(); ++i) {
      if (turn < lists[i].size()) points.push_back(lists[i][turn]);
    }
  }
  return points;
}

Status CheckFaults(const harness::Scenario& scenario, const ExploreOptions& options) {
  const bool is_posix = scenario.semantics == harness::Semantics::kPosix;
  const bool has_files =
      is_posix || !scenario.volumes.empty() || !scenario.working_directory.empty();
  if (options.power_loss && !has_files) return errors::PowerLossNeedsFiles();
  if (options.power_loss && scenario.ranks > 1) return errors::PowerLossNeedsOneReplica();
  if (options.storage_errors && is_posix) return errors::StorageErrorsNeedObjects();
  if (!options.network_cuts && !options.network) return Ok{};
  if (options.network_cuts && is_posix) return errors::NetworkCutsNeedObjects();
  if (scenario.own_ports) return errors::NetworkFaultsNeedMachines();
  const bool on_machines =
      scenario::IsolationOf(options.settings.options, options.workshop) == app::Isolation::kMachine;
  return on_machines ? Status(Ok{}) : errors::NetworkFaultsNeedMachines();
}

bool WatchesDisks(const ExploreOptions& options) {
  return options.disks != Disks::kNew || options.kept_sample || options.full_disks ||
         options.points.kinds.contains("disk");
}

Status CheckReplicas(const std::set<std::string>& all, bool writes_files,
                     const ExploreOptions& options) {
  if (options.full_disks && !writes_files) return errors::FullDisksNeedFiles();
  if (options.power_loss && all.size() > 1) return errors::PowerLossNeedsOneReplica();
  for (const std::string& wanted : options.points.replicas) {
    if (all.contains(wanted)) continue;
    return errors::NoSuchReplica(wanted, std::vector<std::string>(all.begin(), all.end()));
  }
  return Ok{};
}

}  // namespace caip::explore
