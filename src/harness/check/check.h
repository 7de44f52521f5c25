#pragma once
// The checks of `caip check`. docs/check.md describes them for users.
//
// A new check is one function and one row in the file of its chapter: start_and_exit_checks.cc,
// package_checks.cc, role_checks.cc, restart_checks.cc, machine_checks.cc or
// log_and_tuning_checks.cc.

#include <string>
#include <string_view>
#include <vector>

#include "harness/check/check_run.h"

namespace caip::harness {

enum class CheckVerdict { kPass, kWarn, kFail, kSkipped, kNotRun };
/// "PASS", "WARN", "FAIL", "SKIPPED", "NOT RUN".
std::string_view Name(CheckVerdict verdict);

/// The result of a check.
struct CheckResult {
  CheckVerdict verdict = CheckVerdict::kPass;
  std::string found;                       // a sentence
  std::vector<std::string> evidence = {};  // lines, operations, files, as they were seen
  std::string advice = {};                 // what to do; "": nothing
};
CheckResult Pass(std::string found);
CheckResult Skip(std::string why);

/// The trainers that a check is about.
enum class CheckScope {
  kService,     // those of a job of the service
  kAnyTrainer,  // also those that are commands and know nothing of the service
  kVertexJobs,  // those of custom jobs and tuning jobs of Vertex AI
};

struct CheckKind {
  std::string id;        // "chapter/name"
  std::string sentence;  // true for a trainer that passes
  std::string source;    // the page and section that promise it, or the reason
  /// Runs that the check needs. All of them were made when `evaluate` is called.
  std::vector<std::string> runs;
  CheckResult (*evaluate)(const CheckSession& session);
  CheckScope scope = CheckScope::kService;
  /// Further runs at which `evaluate` looks. They were made, too, or skipped.
  std::vector<std::string> other_runs = {};
};

/// All checks, by chapter.
const std::vector<CheckKind>& CheckKinds();
/// Null if no check has this id.
const CheckKind* FindCheck(std::string_view id);

/// The result of one check. SKIPPED, with the reason, if a run that it needs was not made.
CheckResult EvaluateCheck(const CheckKind& check, const CheckSession& session);

/// The runs that these checks need, with the runs that those depend on.
std::vector<const CheckRunKind*> RunsFor(const std::vector<const CheckKind*>& checks);

// The chapters.
std::vector<CheckKind> StartChecks();
std::vector<CheckKind> PackageChecks();
std::vector<CheckKind> RoleChecks();
std::vector<CheckKind> ExitChecks();
std::vector<CheckKind> RestartChecks();
std::vector<CheckKind> MachineChecks();
std::vector<CheckKind> LogChecks();
std::vector<CheckKind> TuningChecks();

}  // namespace caip::harness
