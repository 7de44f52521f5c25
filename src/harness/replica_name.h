#pragma once
// What the event list calls a replica: "master-0" of a job, "master-0/2" of its second trial.

#include <string>

#include "engine/ports.h"

namespace caip::harness {

std::string ReplicaNameOf(const engine::ReplicaKey& key);
/// `task` is "master-replica-0"; `trial` is "" outside tuning.
std::string ReplicaNameOf(const std::string& task, const std::string& trial);

}  // namespace caip::harness
