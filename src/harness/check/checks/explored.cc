#include <algorithm>

#include "base/text.h"
#include "harness/check/check.h"

namespace caip::harness {
namespace {

constexpr size_t kShownFindings = 5;

// What differs without a restart, or counts them.
std::string NotCompared(const CourseRun& run) {
  return run.not_compared.empty() ? "" : "not compared: " + Join(run.not_compared, ", ");
}

Ruling Found(const CourseRun& run, bool sure) {
  Ruling ruling{sure ? CheckVerdict::kFail : CheckVerdict::kWarn, ""};
  size_t count = 0;
  for (const ExploredFlaw& flaw : run.flaws) {
    if (flaw.is_doubtful == sure) continue;
    if (count++ == 0) ruling.found = flaw.cause;
    if (count > kShownFindings) continue;
    ruling.evidence.push_back("the machine goes " + flaw.moment + ": " + flaw.cause);
    ruling.evidence.push_back("  expected " + flaw.expected + ", found " + flaw.found);
    ruling.evidence.push_back("  again: caip scenario run " + flaw.scenario);
  }
  if (const std::string rest = NotCompared(run); !rest.empty()) ruling.evidence.push_back(rest);
  if (count > 1) ruling.found += ", and " + std::to_string(count - 1) + " more";
  ruling.advice =
      "Each finding is a scenario that fails until the trainer is mended; "
      "`caip scenario show` draws a run of it. docs/explorer.md tells more.";
  return ruling;
}

Ruling JudgeExplored(const Course& course) {
  for (const CheckKind& simpler : {SigtermCheck(), ResumesCheck(), CheckpointsCheck()}) {
    if (JudgeCheck(simpler, course).verdict != CheckVerdict::kFail) continue;
    return Skip(simpler.id + " fails: most restarts would show that alone");
  }
  const CourseRun& run = course.Of("restarts");
  if (run.restarts_tried == 0) {
    return Skip("no restart was tried" +
                (run.not_all.empty() ? std::string() : ": " + run.not_all));
  }
  const auto doubtful = [](const ExploredFlaw& flaw) { return flaw.is_doubtful; };
  if (!std::all_of(run.flaws.begin(), run.flaws.end(), doubtful)) return Found(run, true);
  if (!run.flaws.empty()) return Found(run, false);
  std::vector<std::string> but;
  for (const std::string& one : {run.not_all, NotCompared(run)}) {
    if (!one.empty()) but.push_back(one);
  }
  return Pass(std::to_string(run.restarts_tried) +
              " restarts, and each ended as if there had been none" +
              (but.empty() ? "" : " (" + Join(but, "; ") + ")"));
}

}  // namespace

CheckKind ExploredCheck() {
  return {"restart/explored",
          "The result is the same whenever the machine goes.",
          "docs/service/restarts.md, section 3; docs/explorer.md",
          {"plain", "maintenance", "restarts"},
          JudgeExplored};
}

}  // namespace caip::harness
