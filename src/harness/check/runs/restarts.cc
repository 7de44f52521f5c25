#include "harness/check/course.h"

namespace caip::harness {
namespace {

constexpr auto kShort = std::chrono::seconds(10);
constexpr int64_t kFew = 12;

RunPlan Plan(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  plan.how = RunPlan::How::kExplore;
  if (course.trainer.deep) return plan;
  plan.budget = kShort;
  plan.points_max = kFew;
  return plan;
}

}  // namespace

CourseRunKind RestartsRun() {
  return {"restarts",
          "The explorer: the machine goes at a dozen moments that matter; with --deep at all.",
          {"plain"},
          Plan};
}

}  // namespace caip::harness
