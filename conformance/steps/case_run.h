#pragma once
// Carries out one case and says how it went.

#include <string>
#include <vector>

#include "conformance/format/matcher.h"
#include "conformance/steps/scope.h"

namespace conform {

enum class Verdict {
  kPassed,
  kFailed,      // the endpoint did something else
  kMissed,      // failed, and the target file says that it would
  kUnexpected,  // passed, though the target file says that it does not
  kSkipped,     // the target has not what it needs
  kNotRun,      // interrupted before it
};

/// How a case went, with the evidence.
struct Outcome {
  Verdict verdict = Verdict::kNotRun;
  std::string why = {};                   // for people; empty when passed
  std::vector<Mismatch> mismatches = {};  // when an expectation was not met
  std::string seen = {};                  // what was there instead, shortened
  double seconds = 0;
};

/// Runs a case in this worker. `number` is unique in the run.
Outcome RunCase(const World& world, Clients& clients, const Case& one, int number);

}  // namespace conform
