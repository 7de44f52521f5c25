#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

// A hyperparameter's flag comes behind the job's own arguments
// (docs/service/replica-environment.md, section 5).
RunPlan PlanUnknownFlag(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  Json& input = plan.scenario.training_input;
  if (!input.contains("args")) input["args"] = Json::array();
  input["args"].push_back("--caip_check_hyperparameter");
  input["args"].push_back("0.5");
  return plan;
}

}  // namespace

CourseRunKind UnknownFlagRun() {
  return {"unknown-flag",
          "The job with one more flag, as a hyperparameter has it.",
          {"plain"},
          PlanUnknownFlag};
}

}  // namespace caip::harness
