#include <csignal>

#include "base/text.h"
#include "base/time_text.h"
#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

// The master's end is the job's: the others get SIGTERM, and SIGKILL where that does not help.
Ruling JudgeStopWithMaster(const Course& course) {
  const CourseRun& run = course.Of("chief");
  if (!run.succeeded()) return Skip("the run with every role did not end well");
  Ruling ruling{CheckVerdict::kFail, "replicas had to be killed"};
  size_t others = 0;
  for (const Happening& h : run.evidence.happenings) {
    if (h.kind != Happening::Kind::kExit || RoleOf(h.replica) == "master") continue;
    ++others;
    if (h.signal == SIGKILL) ruling.evidence.push_back(Shown(h) + " (SIGKILL)");
  }
  if (others == 0) return Skip("the job has a master only");
  if (ruling.evidence.empty()) {
    return Pass(std::to_string(others) + " other replicas ended by themselves or by SIGTERM");
  }
  ruling.found = "behind the master's end " + std::to_string(ruling.evidence.size()) + " of " +
                 std::to_string(others) + " did not heed SIGTERM for " +
                 HumanDuration(course.trainer.job.limits.grace) + ", and had to be killed";
  ruling.advice =
      "Do not ignore SIGTERM, and let a handler end the process: what it writes behind the end of "
      "the job is lost or half there.";
  return ruling;
}

}  // namespace

CheckKind StopWithMasterCheck() {
  return {
      "roles/stop-with-master",
      "The other replicas stop when the master is done.",
      "docs/service/replica-environment.md, sections 7 and 8: all others are shut down by SIGTERM",
      {"chief"},
      JudgeStopWithMaster};
}

}  // namespace caip::harness
