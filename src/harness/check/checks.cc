#include <algorithm>
#include <set>

#include "harness/check/check.h"

namespace caip::harness {

const std::vector<CheckKind>& CheckKinds() {
  static const std::vector<CheckKind> kinds = {
      SucceedsCheck(),        JobDirFlagCheck(),   UnknownFlagCheck(),     InstalledCheck(),
      CompletePackageCheck(), DependenciesCheck(), WithoutTfConfigCheck(), ChiefCheck(),
      MasterCheck(),          WorkerCheck(),       ParameterServerCheck(), EvaluatorCheck(),
      StopWithMasterCheck(),  FailureCheck(),      SigtermExitCheck(),     CheckpointsCheck(),
      SigtermCheck(),         ResumesCheck(),      ExploredCheck(),        WritesCheck(),
      IndependentCheck(),     ProcessesCheck(),    SeverityCheck(),        MetricCheck(),
  };
  return kinds;
}

std::string_view Name(CheckVerdict verdict) {
  constexpr std::string_view kNames[] = {"PASS", "WARN", "FAIL", "SKIPPED", "NOT RUN"};
  return kNames[static_cast<size_t>(verdict)];
}

Ruling Pass(std::string found) { return {CheckVerdict::kPass, std::move(found)}; }
Ruling Skip(std::string why) { return {CheckVerdict::kSkipped, std::move(why)}; }

Ruling JudgeCheck(const CheckKind& check, const Course& course) {
  for (const std::string& name : check.runs) {
    const auto run = course.runs.find(name);
    if (run == course.runs.end()) return {CheckVerdict::kNotRun, "its runs were not made"};
    if (!run->second.skipped.empty()) return Skip(run->second.skipped);
  }
  return check.judge(course);
}

std::vector<const CourseRunKind*> RunsFor(const std::vector<const CheckKind*>& checks) {
  std::set<std::string> wanted;
  const auto want = [&wanted](const auto& self, const std::string& name) -> void {
    if (!wanted.insert(name).second) return;
    for (const std::string& before : FindCourseRun(name)->after) self(self, before);
  };
  for (const CheckKind* check : checks) {
    for (const std::string& name : check->runs) want(want, name);
  }
  std::vector<const CourseRunKind*> runs;
  for (const CourseRunKind& kind : CourseRunKinds()) {
    if (wanted.contains(kind.name)) runs.push_back(&kind);
  }
  return runs;
}

}  // namespace caip::harness
