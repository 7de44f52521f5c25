#pragma once
// Checks a run against its scenario, and the expectations of a scenario against each other.

#include <string>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The result of a run. A scenario that shows a bug passes if exactly the assertions that it names
/// failed.
struct Verdict {
  std::vector<Assertion> assertions;
  bool passed = false;
  std::string why_not;  // "" if it passed
};

/// Reports on `expect` the expectations that exclude each other, or that no job can meet
/// (docs/scenarios.md). Expectations that `scenario.shows_bug` names may fail and are skipped.
void CheckExpectations(const Cursor& expect, const Scenario& scenario);

/// Checks each expectation. Also checks that each fault was injected, and that no limit ended the
/// run. `twin` may be null if the scenario needs none.
Verdict DecideVerdict(const Scenario& scenario, const Evidence& run, const Evidence* twin);

}  // namespace caip::harness
