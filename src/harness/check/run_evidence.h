#pragma once
// The evidence of a run: lines for a report, and the cause of a failure.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/check.h"
#include "harness/check/check_run.h"
#include "harness/check/missing_module.h"

namespace caip::harness {

/// Any event as a line: "master-0 boot 1 ended with exit code 2", "worker-0: the printed line".
std::string Shown(const Event& event);
/// The last `most` lines that the replica printed; of all replicas for "".
std::vector<std::string> LastLines(const CheckRun& run, const std::string& replica, size_t most);
/// The last line of stderr of the replica; "": none. A program also prints exceptions that it
/// catches, but its last line is about its end.
std::string FinalLineOf(const CheckRun& run, const std::string& replica);
/// The first end of a replica for which `which` is true.
std::optional<Event> FirstEnd(const CheckRun& run, const std::function<bool(const Event&)>& which);
/// Whether the boot failed by itself: with a status other than 0, or by a signal other than SIGTERM
/// and SIGKILL.
bool IsFailure(const Event& end);
/// The first replica that failed.
std::optional<Event> FirstFailure(const CheckRun& run);
/// Whether the text contains one of the parts.
bool ContainsAny(const std::string& text, std::initializer_list<const char*> parts);
/// The result for a run that failed: its end, and the last lines and the end of the failed replica.
CheckResult FailOf(const CheckRun& run, const std::string& when, std::string advice);
/// How the run ended: "FAILED: The replica master 0 exited ..." in one line.
std::string Outcome(const CheckRun& run);
/// All lines of a replica and the job's errorMessage, for searching.
std::string AllWords(const CheckRun& run);

enum class FailureCause {
  kNone,        // the job succeeds
  kJobDirFlag,  // the trainer refuses --job-dir
  // a part of the source tree is missing in the package, or a dependency is not installed
  kPackage,
  kOther,
};

FailureCause FindFailureCause(const CheckSession& session);
/// The line of the output that shows kJobDirFlag or kPackage; else "".
std::string FindFailureLine(const CheckSession& session);
/// The module for which the job fails with kPackage.
MissingModule MissingModuleOf(const CheckSession& session);

}  // namespace caip::harness
