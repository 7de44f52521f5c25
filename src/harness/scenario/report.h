#pragma once
// Reports on scenarios, for people, for CI and for programs.

#include <optional>
#include <string>
#include <vector>

#include "harness/expectations/verdict.h"
#include "harness/scenario/preemption_cost.h"

namespace caip::harness {

/// The result of running a scenario.
struct ScenarioResult {
  std::string file;
  std::string description;
  uint64_t seed = 1;
  Duration took{0};
  Evidence run;
  Verdict verdict;
  std::string error;    // why it could not run; then the members below `run` are not used
  bool cannot = false;  // ... because this host lacks something
  bool ours = false;    // ... because caip itself failed
  std::string replay;   // the command that runs it again
  std::optional<PreemptionCost> cost = {};  // of a run whose machines have lifetimes
  /// Why it has no verdict: "interrupted", "not started"; "": it ran to its end.
  std::string not_run = {};
};

/// Lines for a terminal. A scenario that passed is one line, unless `verbose`.
std::string TextReport(const ScenarioResult& result, bool verbose);
/// "5 scenarios: 4 passed, 1 failed".
std::string Summary(const std::vector<ScenarioResult>& results);
Json JsonReport(const std::vector<ScenarioResult>& results);
/// JUnit's XML for CI systems: a test suite for each scenario, a test case for each assertion.
std::string JunitReport(const std::vector<ScenarioResult>& results);

/// Escapes any bytes for XML, also in attributes, where line breaks would become blanks otherwise.
std::string XmlText(const std::string& raw);

/// The first and the last line of an event list.
Json EventListHead(const std::string& file, const std::string& description, uint64_t seed,
                   const std::string& semantics);
Json EventListEnd(const ScenarioResult& result);

/// The last lines of the replica that failed first: a line that names it, then each line with
/// "  | " in front of it. "": it printed nothing.
std::string QuoteLastLines(const Evidence& run);

/// Why a job failed, in lines: the service's message without the hint where the service keeps the
/// log, the limit that ended the run, and QuoteLastLines if the message quotes no traceback.
std::string DescribeFailure(const Evidence& run);

}  // namespace caip::harness
