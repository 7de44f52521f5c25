#include "harness/check/check_run.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr int kForbidden = 403;  // clients try 5xx again for minutes

RunPlan PlanRefusedWrites(const Course& course) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  const std::string master = MasterOf(course.Of("plain"));
  if (WritesOf(course.Of("plain"), master).empty()) {
    return NotMade("the trainer writes nothing that could be refused");
  }
  RunPlan plan = AsGiven(course);
  Fault fault;
  fault.name = "no write";
  fault.kind = "storage_error";
  fault.replica = master;
  fault.status = kForbidden;
  fault.when.phase = Phase::kBefore;
  fault.when.op = "write";
  fault.when.pattern = "*";
  fault.when.nth.every = 1;
  plan.scenario.faults.push_back(std::move(fault));
  return plan;
}

}  // namespace

CourseRunKind RefusedWritesRun() {
  return {"refused-writes",
          "The job while storage refuses each object that its master writes.",
          {"plain"},
          PlanRefusedWrites};
}

}  // namespace caip::harness
