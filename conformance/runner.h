#pragma once
// Runs several cases in parallel and collects their outcomes.

#include <functional>
#include <vector>

#include "conformance/steps/case_run.h"

namespace conform {

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

/// The cases that filters, chapters and the shard select.
std::vector<Case> Chosen(const std::vector<Case>& cases, const std::vector<std::string>& filters,
                         const std::vector<std::string>& chapters, std::pair<int, int> shard);

}  // namespace conform
