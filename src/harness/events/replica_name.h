#pragma once
// The names of replicas in event lists: "master-0" of a job, "master-0/2" of its second trial.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::harness {

std::string ReplicaNameOf(const engine::ReplicaKey& key);
/// `task` is "master-replica-0"; `trial` is "" outside tuning.
std::string ReplicaNameOf(const std::string& task, const std::string& trial);

/// "master-0" of a task name "master-replica-0". Other words are returned unchanged.
std::string ReplicaName(std::string task);

/// The names of `replicas` in each trial of a tuning job.
std::vector<std::string> NamesInTrials(const std::vector<std::string>& replicas, int64_t trials);

}  // namespace caip::harness
