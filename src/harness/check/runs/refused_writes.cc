#include "harness/check/check_run.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr int kForbidden = 403;  // clients try 5xx again for minutes

RunPlan Plan(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  const std::string master = MasterOf(course.Of("plain"));
  if (WritesOf(course.Of("plain"), master).empty()) {
    return NotMade("the trainer writes nothing that could be refused");
  }
  RunPlan plan = AsGiven(course);
  Trigger every_write{.phase = Phase::kBefore, .op = "write", .pattern = "*"};
  every_write.nth.every = 1;
  plan.scenario.faults.push_back(
      RefuseStorageFault("no write", master, std::move(every_write), kForbidden));
  return plan;
}

}  // namespace

CourseRunKind RefusedWritesRun() {
  return {"refused-writes",
          "The job while storage refuses each object that its master writes.",
          {"plain"},
          Plan};
}

}  // namespace caip::harness
