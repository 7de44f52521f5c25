// The expectation output_never_goes_back.

#include "harness/expectations/twin_comparison.h"
#include "harness/explorer/spoiled_output.h"

namespace caip::harness {
namespace {

constexpr char kNeverGoesBack[] = "output_never_goes_back";

std::vector<Assertion> CheckOutput(const ObjectComparison& how, const ComparedRuns& runs) {
  Assertion assertion{kNeverGoesBack, "each object unchanged, or of a later step", "so", true};
  if (!WasRestartedAfterError(runs.run)) {
    assertion.found = "no program was started again after an error";
    assertion.passed = false;
    return {assertion};
  }
  const auto compares = [&how](const std::string& object) { return how.Compares(object); };
  const auto spoiled = FindSpoiledObject(runs.run, *runs.twin, compares);
  if (!spoiled) return {assertion};
  assertion.expected = spoiled->expected;
  assertion.found = spoiled->found;
  assertion.passed = false;
  return {assertion};
}

}  // namespace

// `true`, or the objects that count: {globs: [...], except: [...]}.
ExpectationPtr ReadOutputNeverGoesBack(const Cursor& cursor) {
  const ObjectComparison how = ReadObjectComparison(cursor);
  if (!cursor.IsMap() && !cursor.Flag()) return nullptr;
  return Expect([how](const ComparedRuns& runs) { return CheckOutput(how, runs); }, true);
}

}  // namespace caip::harness
