#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

RunPlan PlanPackages(const Course& course) {
  if (course.trainer.is_container) return NotMade("the job is an image and has no packages");
  RunPlan plan;
  plan.how = RunPlan::How::kLook;
  plan.scenario.semantics = Semantics::kObject;
  Json archives = Json::array();
  for (const Path& archive : course.trainer.packages) archives.push_back(archive.string());
  const auto& launched = course.Of("plain").launched;
  plan.look = {{"archives", std::move(archives)},
               {"source", course.trainer.source ? course.trainer.source->string() : ""},
               {"environment", launched.empty() ? "" : launched.front().Variable("VIRTUAL_ENV")}};
  return plan;
}

}  // namespace

CourseRunKind PackagesRun() {
  return {"packages",
          "A look at what was packed and installed, beside the source tree.",
          {"plain"},
          PlanPackages};
}

}  // namespace caip::harness
