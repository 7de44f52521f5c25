#include "harness/check/check_run.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr auto kPause = std::chrono::milliseconds(500);
constexpr auto kGrace = std::chrono::seconds(30);  // page replica-environment, section 8

RunPlan Plan(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  const auto middle = MiddleOf(course.Of("plain"));
  if (!middle) {
    return NotMade(
        "the trainer reports less than two steps (docs/scenarios.md: Steps) and writes "
        "less than two objects: there is no middle at which to restart it");
  }
  RunPlan plan = AsGiven(course);
  // It stands still until the signal is there: else a quick trainer is done before it comes.
  plan.scenario.faults.push_back(HangFault("pause", middle->replica, TriggerOf(*middle), kPause));
  plan.scenario.faults.push_back(
      MaintenanceFault("maintenance", middle->replica, TriggerOf(*middle)));
  plan.scenario.limits.grace = kGrace;
  return plan;
}

}  // namespace

CourseRunKind MaintenanceRun() {
  return {"maintenance",
          "The job whose master gets SIGTERM in the middle of its training, and a new machine.",
          {"plain"},
          Plan};
}

}  // namespace caip::harness
