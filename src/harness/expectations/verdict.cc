#include "harness/expectations/verdict.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace caip::harness {
namespace {

std::string HoldsWaitForEachOther(const std::vector<std::string>& names) {
  return Join(names, " and ") + " wait for each other's replicas";
}

void CheckFaultsWereInjected(const Evidence& run, std::vector<Assertion>& assertions) {
  for (const FaultTally& fault : run.faults) {
    Assertion injected{"fault " + fault.name, "injected: " + fault.what, "",
                       !fault.injected_at.empty()};
    std::vector<std::string> numbers;
    for (const int64_t number : fault.injected_at) numbers.push_back(std::to_string(number));
    injected.found = fault.injected_at.empty()
                         ? "never; its trigger counted " + std::to_string(fault.seen) + " events"
                         : "at event " + Join(numbers, ", ");
    if (!injected.passed && fault.if_reached) {
      injected.passed = true;
      injected.found += ", which `if_reached` allows";
    }
    if (!fault.injected_at.empty() && !fault.until_came) {
      injected.passed = false;
      injected.found += ", but its `until` never came";
      if (!fault.circle.empty()) injected.found += ": " + HoldsWaitForEachOther(fault.circle);
    }
    assertions.push_back(std::move(injected));
  }
}

// Whether the run did not reach a fault that need not be reached. Then the expectations, which are
// about what follows the fault, do not count.
bool MissesAFault(const Evidence& run) {
  return std::ranges::any_of(run.faults, [](const FaultTally& fault) {
    return fault.if_reached && fault.injected_at.empty();
  });
}

// Whether `wanted` names the assertion: "first_step" also names "first_step master-0 boot 2".
bool Names(const std::string& wanted, const std::string& assertion) {
  return assertion == wanted || assertion.starts_with(wanted + " ");
}

void Conclude(const Scenario& scenario, Verdict& verdict) {
  std::vector<std::string> failed;
  for (const Assertion& assertion : verdict.assertions) {
    if (!assertion.passed) failed.push_back(assertion.name);
  }
  if (scenario.shows_bug.empty()) {
    verdict.passed = failed.empty();
    if (!verdict.passed) verdict.why_not = "failed: " + Join(failed, ", ");
    return;
  }
  for (const std::string& wanted : scenario.shows_bug) {
    const bool shown = std::any_of(failed.begin(), failed.end(),
                                   [&](const std::string& name) { return Names(wanted, name); });
    if (!shown) verdict.why_not = "the bug did not appear: '" + wanted + "' holds";
  }
  for (const std::string& name : failed) {
    const bool wanted = std::any_of(scenario.shows_bug.begin(), scenario.shows_bug.end(),
                                    [&](const std::string& word) { return Names(word, name); });
    if (!wanted) verdict.why_not = "'" + name + "' also failed, and shows_bug does not name it";
  }
  verdict.passed = verdict.why_not.empty();
}

}  // namespace

Verdict DecideVerdict(const Scenario& scenario, const Evidence& run, const Evidence* twin) {
  Verdict verdict;
  CheckFaultsWereInjected(run, verdict.assertions);
  if (!run.broke_off.empty()) {
    verdict.assertions.push_back({"limits", "the job ends by itself", run.broke_off, false});
  }
  if (MissesAFault(run)) {
    verdict.assertions.push_back({"state", "SUCCEEDED", run.state, run.state == "SUCCEEDED"});
    Conclude(scenario, verdict);
    return verdict;
  }
  const ComparedRuns runs{run, twin};
  for (const auto& expectation : scenario.expectations) {
    if (expectation->needs_twin() && !twin) continue;
    for (Assertion& assertion : expectation->Evaluate(runs)) {
      verdict.assertions.push_back(std::move(assertion));
    }
  }
  Conclude(scenario, verdict);
  return verdict;
}

}  // namespace caip::harness
