#include "harness/check/restart_point.h"

#include <algorithm>

#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

constexpr int64_t kEndPart = 10;  // a tenth of the run is its end

bool IsLasting(const Happening& h) {
  const bool writes = h.op != "read" && h.op != "list" && h.op != "delete";
  return h.kind == Happening::Kind::kStorage && !h.failed && writes &&
         h.object.find(".tfevents.") == std::string::npos;
}

std::vector<const Happening*> Those(const CourseRun& run, const std::string& replica, int boot,
                                    bool (*which)(const Happening&)) {
  std::vector<const Happening*> found;
  for (const Happening& h : run.evidence.happenings) {
    if (h.replica == replica && (boot == 0 || h.boot == boot) && which(h)) found.push_back(&h);
  }
  return found;
}

// Events of the last boot's begin and end.
std::pair<Instant, Instant> SpanOf(const CourseRun& run, const std::string& replica) {
  std::pair<Instant, Instant> span{};
  for (const Happening& h : run.evidence.happenings) {
    if (h.replica != replica) continue;
    if (h.kind == Happening::Kind::kLive) span.first = h.time;
    if (h.kind == Happening::Kind::kExit) span.second = h.time;
  }
  return span;
}

}  // namespace

std::string MasterOf(const CourseRun& run) {
  for (const LaunchedReplica& launched : run.launched) {
    if (RoleOf(launched.replica) == "master") return launched.replica;
  }
  return "master-0";
}

std::vector<const Happening*> WritesOf(const CourseRun& run, const std::string& replica, int boot) {
  return Those(run, replica, boot, IsLasting);
}

std::vector<const Happening*> StepsOf(const CourseRun& run, const std::string& replica, int boot) {
  return Those(run, replica, boot,
               [](const Happening& h) { return h.kind == Happening::Kind::kStep; });
}

std::vector<const Happening*> SavesOf(const CourseRun& plain) {
  const std::string master = MasterOf(plain);
  std::vector<const Happening*> writes = WritesOf(plain, master);
  const auto steps = StepsOf(plain, master);
  const auto [begin, end] = SpanOf(plain, master);
  const Instant last_part = end - (end - begin) / kEndPart;
  std::erase_if(writes, [&](const Happening* write) {
    return steps.empty() ? write->time > last_part : write->number > steps.back()->number;
  });
  return writes;
}

std::optional<CrashPoint> MiddleOf(const CourseRun& plain) {
  PointSelection selection;
  selection.kinds = {"storage", "steps"};
  selection.replicas = {MasterOf(plain)};
  std::vector<CrashPoint> steps;
  std::vector<CrashPoint> writes;
  for (CrashPoint& point : PointsOf(plain.evidence, selection)) {
    const bool write = point.op != "read" && point.op != "list" && point.op != "delete";
    if (point.kind == Happening::Kind::kStep) {
      steps.push_back(std::move(point));
    } else if (!point.before && point.mid_bytes == 0 && write) {
      writes.push_back(std::move(point));
    }
  }
  if (steps.size() > 1) {
    steps.pop_back();  // behind the last there may be nothing left to be lost
    const size_t saved = writes.empty() ? 0 : writes.front().events;
    std::vector<CrashPoint> behind;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(behind),
                 [saved](const CrashPoint& step) { return step.events > saved; });
    return behind.empty() ? steps[steps.size() / 2] : behind[behind.size() / 2];
  }
  if (writes.size() > 1) return writes[(writes.size() - 1) / 2];
  return std::nullopt;
}

}  // namespace caip::harness
