#pragma once
// Runs cases: one, or several in parallel.

#include <functional>
#include <set>
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

/// The result of a run: one outcome for each case, in the order of the cases.
struct Run {
  std::vector<Case> cases;
  std::vector<Outcome> outcomes;
  double seconds = 0;
  bool interrupted = false;

  int Count(Verdict verdict) const;
};

/// Called after each case, from one thread at a time.
using Progress = std::function<void(size_t done, const Case& one, const Outcome& outcome)>;

/// Runs `cases` with `jobs` workers. Stops early after an interrupt or, with `fail_fast`, at the
/// first failure.
Run RunCases(const World& world, std::vector<Case> cases, int jobs, bool fail_fast,
             const Progress& progress);

/// The cases that judge one of `apis`, or no API in particular.
std::vector<Case> OfApis(const std::vector<Case>& cases, const std::set<std::string>& apis);

/// The cases that filters, chapters and the shard select.
std::vector<Case> Chosen(const std::vector<Case>& cases, const std::vector<std::string>& filters,
                         const std::vector<std::string>& chapters, std::pair<int, int> shard);

}  // namespace conform
