#pragma once
// The replicas of a scenario's job.

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replicas of a job that is a trainer or a document, by their names in scenarios. Empty for
/// words, because only the client knows those replicas.
std::vector<std::string> FindReplicas(const Scenario& scenario);

/// Whether the first replica runs installed packages. False for words.
bool RunsPackages(const Scenario& scenario);

}  // namespace caip::harness
