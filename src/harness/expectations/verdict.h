#pragma once
// A run held against its scenario.

#include <string>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// What came of it. `passed` is what a person wants to know: of a scenario that is to show a bug,
/// exactly the assertions that it names failed.
struct Verdict {
  std::vector<Assertion> assertions;
  bool passed = false;
  std::string why_not;  // "" when passed
};

/// Each expectation, each fault (one that never struck fails), and that no limit was met. `twin`
/// may be null when the scenario needs none.
Verdict DecideVerdict(const Scenario& scenario, const Evidence& run, const Evidence* twin);

}  // namespace caip::harness
