#pragma once
// What was seen in a run, as lines of a report.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/check.h"
#include "harness/check/check_run.h"

namespace caip::harness {

/// "master-0 boot 1 ended with exit code 2", "worker-0: the line": of anything in the event list.
std::string Shown(const Event& event);
/// The last `most` lines that the replica printed; of all replicas for "".
std::vector<std::string> LastLines(const CourseRun& run, const std::string& replica, size_t most);
/// The first end of a replica, of those that `which` takes.
std::optional<Event> FirstEnd(const CourseRun& run, const std::function<bool(const Event&)>& which);
/// It ended by itself, not well: a status other than 0, or a signal that nobody sent it.
bool IsFailure(const Event& end);
/// The first replica that failed; what ended the job, if anything did.
std::optional<Event> FirstFailure(const CourseRun& run);
/// A ruling of a run that did not go well: how it ended, the last lines of who failed, its end.
Ruling FailOf(const CourseRun& run, const std::string& when, std::string advice);
/// "worker" of "worker-1".
std::string RoleOf(const std::string& replica);
/// How the run ended: "FAILED: The replica master 0 exited ..." in one line.
std::string Outcome(const CourseRun& run);
/// All lines of a replica and the job's errorMessage, for searching.
std::string AllWords(const CourseRun& run);

}  // namespace caip::harness
