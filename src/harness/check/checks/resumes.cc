#include <algorithm>
#include <set>

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr char kResumesAdvice[] =
    "Look for the newest whole checkpoint in job-dir when the trainer starts, and go on behind it: "
    "a job whose machine goes more often than it takes to train would never end.";

Ruling JudgeSteps(const CourseRun& run, const std::string& master) {
  const auto before = StepsOf(run, master, 1);
  const auto behind = StepsOf(run, master, 2);
  if (behind.empty()) return Pass("boot 2 had no step left to do");
  const std::string from = "boot 1 came to step " + std::to_string(before.back()->step) +
                           ", boot 2 began at " + std::to_string(behind.front()->step);
  if (behind.front()->step > before.front()->step) return Pass(from);
  Ruling ruling{CheckVerdict::kFail, from, {}, kResumesAdvice};
  ruling.evidence.push_back("saved before: " + Shown(*WritesOf(run, master, 1).back()));
  ruling.evidence.push_back("first of boot 2: " + Shown(*behind.front()));
  return ruling;
}

// Who reports no steps has to be seen reading what it had written.
Ruling JudgeReads(const CourseRun& run, const std::string& master) {
  std::set<std::string> written;
  for (const Happening* write : WritesOf(run, master, 1)) written.insert(write->object);
  for (const Happening& h : run.evidence.happenings) {
    const bool read = h.kind == Happening::Kind::kStorage && h.op == "read" && !h.failed;
    if (read && h.replica == master && h.boot == 2 && written.contains(h.object)) {
      return Pass("boot 2 read " + h.object + ", which boot 1 had written");
    }
  }
  Ruling ruling{
      CheckVerdict::kFail, "boot 2 read nothing of what boot 1 had written", {}, kResumesAdvice};
  for (const std::string& object : written) ruling.evidence.push_back("written: " + object);
  return ruling;
}

Ruling JudgeSteps(const Course& course) {
  const CourseRun& run = course.Of("maintenance");
  const std::string master = MasterOf(run);
  if (!run.succeeded()) return Skip("the job did not survive: restart/sigterm tells why");
  if (WritesOf(run, master, 1).empty()) {
    return Skip("nothing was saved before: restart/checkpoints tells of it");
  }
  return StepsOf(run, master, 1).empty() ? JudgeReads(run, master) : JudgeSteps(run, master);
}

}  // namespace

CheckKind ResumesCheck() {
  return {
      "restart/resumes",
      "A restarted trainer goes on from what it had saved.",
      "docs/service/replica-environment.md, section 8; docs/service/restarts.md, section 3: R08",
      {"maintenance"},
      JudgeSteps};
}

}  // namespace caip::harness
