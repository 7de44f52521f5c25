#include <algorithm>

#include "base/time_text.h"
#include "harness/check/check_run.h"

namespace caip::harness {
namespace {

// The explorer runs the job three times before its first restart.
constexpr int kPeaces = 3;
constexpr Duration kShort = std::chrono::seconds(10);
constexpr Duration kLong = std::chrono::seconds(30);
constexpr int64_t kFew = 12;

RunPlan PlanRestarts(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  plan.how = RunPlan::How::kExplore;
  if (course.trainer.deep) return plan;
  const Duration took = course.Of("plain").took;
  if (took > kLong) {
    return NotMade("one run takes " + HumanDuration(took) +
                   ": give it less to do behind the --, or ask for --deep");
  }
  plan.budget = kPeaces * took + std::max(kShort, 2 * took);
  plan.points_max = kFew;
  return plan;
}

}  // namespace

CourseRunKind RestartsRun() {
  return {"restarts",
          "The explorer: the machine goes at a dozen moments that matter; with --deep at all.",
          {"plain"},
          PlanRestarts};
}

}  // namespace caip::harness
