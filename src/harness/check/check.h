#pragma once
// What `caip check` judges of a trainer. One check, one file below checks/, one line in checks.cc.
// docs/check.md is the user's side.

#include <string>
#include <vector>

#include "harness/check/check_run.h"

namespace caip::harness {

enum class CheckVerdict { kPass, kWarn, kFail, kSkipped, kNotRun };
/// "PASS", "WARN", "FAIL", "SKIPPED", "NOT RUN".
std::string_view Name(CheckVerdict verdict);

/// What a check says of a course.
struct Ruling {
  CheckVerdict verdict = CheckVerdict::kPass;
  std::string found;                       // a sentence
  std::vector<std::string> evidence = {};  // lines, operations, files, as they were seen
  std::string advice = {};                 // what to do; "" nothing
};
Ruling Pass(std::string found);
Ruling Skip(std::string why);

struct CheckKind {
  std::string id;                 // "chapter/name"
  std::string sentence;           // what holds of a trainer that passes
  std::string source;             // page and section that promise it, or the reason
  std::vector<std::string> runs;  // of the course. None of them was skipped when `judge` is called
  Ruling (*judge)(const Course& course);
};

/// All checks, by chapter.
const std::vector<CheckKind>& CheckKinds();

/// The ruling of one check; SKIPPED with the reason where a run that it needs was not made.
Ruling JudgeCheck(const CheckKind& check, const Course& course);

/// The runs that these checks need, with those that stand before them.
std::vector<const CourseRunKind*> RunsFor(const std::vector<const CheckKind*>& checks);

// One function a file.
CheckKind SucceedsCheck();
CheckKind JobDirFlagCheck();
CheckKind WithoutTfConfigCheck();
CheckKind ChiefCheck();
CheckKind MasterCheck();
CheckKind WorkerCheck();
CheckKind ParameterServerCheck();
CheckKind EvaluatorCheck();
CheckKind StopWithMasterCheck();
CheckKind UnknownFlagCheck();
CheckKind InstalledCheck();
CheckKind CompletePackageCheck();
CheckKind DependenciesCheck();
CheckKind FailureCheck();
CheckKind SigtermExitCheck();
CheckKind CheckpointsCheck();
CheckKind SigtermCheck();
CheckKind ResumesCheck();
CheckKind ExploredCheck();
CheckKind WritesCheck();
CheckKind IndependentCheck();
CheckKind ProcessesCheck();
CheckKind SeverityCheck();
CheckKind MetricCheck();

}  // namespace caip::harness
