#pragma once
// Runs one case.

#include <string>
#include <vector>

#include "conformance/format/matcher.h"
#include "conformance/steps/scope.h"

namespace conform {

enum class Verdict {
  kPassed,
  kFailed,      // the endpoint breaks a rule
  kMissed,      // failed, and the target file lists it
  kUnexpected,  // passed, although the target file lists it
  kSkipped,     // the target lacks a feature that it needs
  kNotRun,      // the run was interrupted
};

/// The outcome of a case, with the evidence.
struct Outcome {
  Verdict verdict = Verdict::kNotRun;
  std::string why = {};                   // for people; empty when passed
  std::vector<Mismatch> mismatches = {};  // if an expectation was not met
  std::string seen = {};                  // the actual result, shortened
  double seconds = 0;
};

/// Runs a case in this worker. `number` is unique in the run.
Outcome RunCase(const World& world, Clients& clients, const Case& one, int number);

}  // namespace conform
