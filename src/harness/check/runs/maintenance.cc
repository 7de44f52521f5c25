#include "harness/check/check_run.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr auto kPause = std::chrono::milliseconds(500);
// The grace period after SIGTERM (docs/service/replica-environment.md, section 8).
constexpr auto kGrace = std::chrono::seconds(30);

RunPlan PlanMaintenance(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  const auto middle = MiddleOf(course.Of("plain"));
  if (!middle) {
    return NotMade(
        "the trainer reports less than two steps (docs/scenarios.md: Steps) and writes "
        "less than two objects: there is no middle at which to restart it");
  }
  RunPlan plan = AsGiven(course);
  // It stands still until the signal is there: else a quick trainer is done before it comes.
  Fault pause;
  pause.name = "pause";
  pause.kind = "hang";
  pause.replica = middle->replica;
  pause.when = TriggerOf(*middle);
  pause.lasts = kPause;
  plan.scenario.faults.push_back(std::move(pause));
  Fault fault;
  fault.name = "maintenance";
  fault.kind = "maintenance";
  fault.replica = middle->replica;
  fault.when = TriggerOf(*middle);
  plan.scenario.faults.push_back(std::move(fault));
  plan.scenario.limits.grace = kGrace;
  return plan;
}

}  // namespace

CourseRunKind MaintenanceRun() {
  return {"maintenance",
          "The job whose master gets SIGTERM in the middle of its training, and a new machine.",
          {"plain"},
          PlanMaintenance};
}

}  // namespace caip::harness
