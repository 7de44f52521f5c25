#include "harness/check/restart_point.h"

#include <algorithm>
#include <set>

#include "harness/check/run_evidence.h"
#include "harness/explorer/baseline.h"

namespace caip::harness {
namespace {

constexpr int64_t kEndPart = 10;  // the last tenth of a run is its end

bool IsOf(const Event& event, const std::string& replica, int boot) {
  return (replica.empty() || event.replica == replica) && (boot == 0 || event.boot == boot);
}

bool IsLastingWrite(const StorageEvent& operation) {
  const std::string& op = operation.op;
  return !operation.failed && op != "read" && op != "list" && op != "delete" &&
         operation.object.find(".tfevents.") == std::string::npos;
}

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
  for (CrashPoint& point : FindCrashPoints(plain.evidence, selection)) {
    const bool write = point.op != "read" && point.op != "list" && point.op != "delete";
    if (point.kind == CrashPoint::Kind::kStep) {
      steps.push_back(std::move(point));
    } else if (!point.before && !point.mid && write) {
      writes.push_back(std::move(point));
    }
  }
  if (steps.size() > 1) {
    steps.pop_back();  // after the last step there may be no work left to lose
    const size_t saved = writes.empty() ? 0 : writes.front().events;
    std::vector<CrashPoint> after;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(after),
                 [saved](const CrashPoint& step) { return step.events > saved; });
    return after.empty() ? steps[steps.size() / 2] : after[after.size() / 2];
  }
  if (writes.size() > 1) return writes[(writes.size() - 1) / 2];
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

}  // namespace

std::string MasterOf(const CheckRun& run) {
  for (const LaunchedReplica& launched : run.launched) {
    if (RoleOf(launched.replica) == "master") return launched.replica;
  }
  return run.launched.empty() ? "master-0" : run.launched.front().replica;
}

std::vector<ReplicaWrite> WritesOf(const CheckRun& run, const std::string& replica, int boot) {
  std::vector<ReplicaWrite> writes;
  for (const Event& event : run.evidence.events) {
    const auto* operation = event.As<StorageEvent>();
    if (!operation || !IsLastingWrite(*operation) || !IsOf(event, replica, boot)) continue;
    writes.push_back({&event, operation->object});
  }
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
  std::erase_if(writes, [&](const ReplicaWrite& write) {
    return steps.empty() ? write.event->time > last_part
                         : write.event->number > steps.back().event->number;
  });
  return writes;
}

bool SavesSomething(const CheckRun& run, const std::string& replica, int boot) {
  std::vector<ReplicaWrite> writes = WritesOf(run, replica, boot);
  RemoveConfigurations(StepsOf(run, replica, boot), writes);
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
