#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

// Nobody knows yet how long this trainer is quiet when all is well.
RunPlan PlanPlain(const Course& course) {
  RunPlan plan = AsGiven(course);
  plan.scenario.limits.no_progress = plan.scenario.limits.wall;
  plan.watches_files = true;
  return plan;
}

}  // namespace

CourseRunKind PlainRun() {
  return {"plain",
          "The job as it was given, installed from its archive, with nothing in its way.",
          {},
          PlanPlain};
}

}  // namespace caip::harness
