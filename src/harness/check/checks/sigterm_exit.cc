#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

Ruling JudgeSigtermExit(const Course& course) {
  const CourseRun& run = course.Of("maintenance");
  const std::string master = MasterOf(run);
  const auto end = FirstEnd(run, [&](const Happening& h) { return h.replica == master; });
  if (!end) return Skip("the master's first boot has no end");
  if (end->signal != 0 || end->exit_code != 0) {
    return Pass("SIGTERM ended it " + std::string(end->signal ? "by signal " : "with exit code ") +
                std::to_string(end->signal ? end->signal : end->exit_code));
  }
  const CourseRun& plain = course.Of("plain");
  const size_t all = StepsOf(plain, MasterOf(plain)).size() + WritesOf(plain, master).size();
  const size_t done = StepsOf(run, master, 1).size() + WritesOf(run, master, 1).size();
  if (done >= all) return Pass("it was done within the grace of SIGTERM");
  Ruling ruling{CheckVerdict::kFail, "SIGTERM in the middle of the training made it exit with 0"};
  if (const auto last = StepsOf(run, master, 1); !last.empty()) {
    ruling.evidence.push_back("the last of boot 1: " + Shown(*last.back()));
  }
  ruling.evidence.push_back(Shown(*end));
  ruling.advice =
      "Exit code 0 says that the training is done. Behind a SIGTERM save what can be saved and end "
      "with 128+15, or put the default handler back and raise the signal again.";
  return ruling;
}

}  // namespace

CheckKind SigtermExitCheck() {
  return {"exit/sigterm",
          "A trainer that is asked to end before it is done does not exit with 0.",
          "docs/service/replica-environment.md, sections 7 and 8",
          {"plain", "maintenance"},
          JudgeSigtermExit};
}

}  // namespace caip::harness
