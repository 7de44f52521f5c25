#pragma once
// What the event list calls a replica: "master-0" of a job, "master-0/2" of its second trial.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::harness {

std::string ReplicaNameOf(const engine::ReplicaKey& key);
/// `task` is "master-replica-0"; `trial` is "" outside tuning.
std::string ReplicaNameOf(const std::string& task, const std::string& trial);

/// The names of `replicas` in each trial of a tuning job, whose own cluster has none.
std::vector<std::string> InTrials(const std::vector<std::string>& replicas, int64_t trials);

}  // namespace caip::harness
