#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

RunPlan PlanWithoutTfConfig(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  plan.tf_config = false;
  return plan;
}

}  // namespace

CourseRunKind WithoutTfConfigRun() {
  return {"without-tf-config",
          "The job with no TF_CONFIG in its environment.",
          {"plain"},
          PlanWithoutTfConfig};
}

}  // namespace caip::harness
