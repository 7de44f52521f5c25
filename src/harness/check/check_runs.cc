// The course as a list, and what its plans share.

#include <algorithm>

#include "harness/check/check_run.h"

namespace caip::harness {

const std::vector<CourseRunKind>& CourseRunKinds() {
  static const std::vector<CourseRunKind> kinds = {
      PlainRun(),       WithoutTfConfigRun(), ChiefClusterRun(), MasterClusterRun(), RestartsRun(),
      UnknownFlagRun(), RefusedWritesRun(),   MaintenanceRun(),  PackagesRun(),      MovedRun(),
  };
  return kinds;
}

const CourseRunKind* FindCourseRun(std::string_view name) {
  for (const CourseRunKind& kind : CourseRunKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string LaunchedReplica::Variable(std::string_view name) const {
  for (const auto& [variable, value] : environment) {
    if (variable == name) return value;
  }
  return "";
}

Duration LongestQuiet(const CourseRun& run) {
  Duration longest{0};
  const Event* last = nullptr;
  for (const Event& h : run.evidence.events) {
    if (!IsProgress(h)) continue;
    if (last) longest = std::max<Duration>(longest, h.time - last->time);
    last = &h;
  }
  return longest;
}

RunPlan AsGiven(const Course& course) {
  RunPlan plan;
  plan.scenario = course.trainer.job;
  plan.metric = course.trainer.metric;
  const auto plain = course.runs.find("plain");
  if (plain == course.runs.end()) return plan;
  // Beside others, and on its way again, a run may be half as quick.
  Duration& stall = plan.scenario.limits.no_progress;
  stall = std::max(stall, 2 * LongestQuiet(plain->second));
  return plan;
}

RunPlan NotMade(std::string why) {
  RunPlan plan;
  plan.skip = std::move(why);
  return plan;
}

std::string NoPeace(const Course& course) {
  const auto plain = course.runs.find("plain");
  if (plain == course.runs.end()) return "the plain run was not made";
  if (!plain->second.skipped.empty()) return plain->second.skipped;
  if (plain->second.succeeded()) return "";
  return "the job does not succeed as it was given, with nothing in its way";
}

}  // namespace caip::harness
