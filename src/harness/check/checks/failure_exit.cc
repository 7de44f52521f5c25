#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr size_t kShownLines = 5;

Ruling JudgeFailure(const Course& course) {
  const CourseRun& run = course.Of("refused-writes");
  const std::string master = MasterOf(run);
  Ruling ruling{CheckVerdict::kFail, ""};
  size_t refused = 0;
  for (const Happening& h : run.evidence.happenings) {
    if (h.kind != Happening::Kind::kFault) continue;
    if (++refused <= kShownLines) ruling.evidence.push_back("refused: " + h.detail);
  }
  const std::string what =
      std::to_string(refused) + (refused == 1 ? " write was refused" : " writes were refused");
  if (!run.evidence.broke_off.empty()) {
    ruling.found = what + ", and the trainer neither succeeds nor fails: " + Outcome(run);
  } else if (run.evidence.state == "SUCCEEDED") {
    ruling.found = what + ", and the trainer ended with exit code 0";
  } else {
    return Pass(what + ", and the job FAILED");
  }
  for (const std::string& line : LastLines(run, master, 3)) ruling.evidence.push_back(line);
  ruling.advice =
      "The exit code is all that the service knows of a trainer: let exceptions end it, or exit "
      "with another code than 0 when a checkpoint or the result could not be written.";
  return ruling;
}

}  // namespace

CheckKind FailureCheck() {
  return {
      "exit/failure",
      "A trainer that cannot write its results does not end with exit code 0.",
      "docs/service/replica-environment.md, section 7: the master's exit 0 is the job's success",
      {"refused-writes"},
      JudgeFailure};
}

}  // namespace caip::harness
