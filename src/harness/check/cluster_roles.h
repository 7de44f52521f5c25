#pragma once
// The roles of a trainingInput. Pure.

#include <string>

#include "base/json.h"

namespace caip::harness {

/// Whether the job has replicas of the role "worker", "ps" or "evaluator". The master always
/// exists.
bool HasRole(const Json& input, const std::string& role);
/// Whether the job has more replicas than its master.
bool HasCluster(const Json& input);
/// Whether TF_CONFIG calls the master `chief`.
bool UsesChief(const Json& input);
/// Adds two workers, one parameter server and, with `evaluator`, one evaluator. All of them have
/// the master's machine type and image.
void AddEveryRole(Json& input, bool evaluator);

}  // namespace caip::harness
