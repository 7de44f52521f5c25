#pragma once
// The roles of a trainingInput. Pure.

#include <string>

#include "base/json.h"

namespace caip::harness {

/// "worker", "ps" or "evaluator" are in the job; the master always is.
bool HasRole(const Json& input, const std::string& role);
/// The job has more replicas than its master.
bool HasCluster(const Json& input);
/// TF_CONFIG calls its master `chief`.
bool UsesChief(const Json& input);
/// Two workers, one parameter server and, with `evaluator`, one evaluator, all of the master's
/// kind.
void AddEveryRole(Json& input, bool evaluator);

}  // namespace caip::harness
