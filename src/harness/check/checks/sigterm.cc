#include <set>

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/restart_point.h"
#include "harness/explorer/baseline.h"

namespace caip::harness {
namespace {

std::set<int64_t> NumbersOf(const std::vector<const Happening*>& steps) {
  std::set<int64_t> numbers;
  for (const Happening* step : steps) numbers.insert(step->step);
  return numbers;
}

std::vector<std::string> Missing(const CourseRun& plain, const CourseRun& run) {
  std::vector<std::string> missing;
  std::set<std::string> there;  // names may have times in them
  for (const auto& [name, object] : run.evidence.objects) there.insert(WithoutNumbers(name));
  for (const auto& [name, object] : plain.evidence.objects) {
    if (!there.contains(WithoutNumbers(name))) missing.push_back("not there at the end: " + name);
  }
  const std::set<int64_t> done = NumbersOf(StepsOf(run, MasterOf(run)));
  for (const int64_t step : NumbersOf(StepsOf(plain, MasterOf(plain)))) {
    if (!done.contains(step)) missing.push_back("never done: step " + std::to_string(step));
  }
  return missing;
}

Ruling JudgeSigterm(const Course& course) {
  const CourseRun& run = course.Of("maintenance");
  const std::string advice =
      "A machine is moved with a SIGTERM and comes back as a new one with an empty disk: take up "
      "the newest whole checkpoint of job-dir, and go on.";
  if (!run.succeeded()) return FailOf(run, "after SIGTERM and a new machine", advice);
  std::vector<std::string> missing = Missing(course.Of("plain"), run);
  if (missing.empty()) return Pass("SUCCEEDED with the steps and objects of an undisturbed run");
  Ruling ruling{CheckVerdict::kFail, "the job SUCCEEDED, and not all of it was done"};
  ruling.evidence = std::move(missing);
  if (ruling.evidence.size() > 8) ruling.evidence.resize(8);
  ruling.advice = advice;
  return ruling;
}

}  // namespace

CheckKind SigtermCheck() {
  return {"restart/sigterm",
          "The training survives a SIGTERM and a new machine.",
          "docs/service/replica-environment.md, sections 7 and 8: machines are moved",
          {"plain", "maintenance"},
          JudgeSigterm};
}

}  // namespace caip::harness
