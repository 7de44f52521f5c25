#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

RunPlan PlanMoved(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  plan.moved_to = "caip-check-moved";
  return plan;
}

}  // namespace

CourseRunKind MovedRun() {
  return {"moved",
          "The job on a host of another name, with another HOME and current directory.",
          {"plain"},
          PlanMoved};
}

}  // namespace caip::harness
