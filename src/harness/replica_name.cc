#include "harness/replica_name.h"

#include "harness/happening.h"

namespace caip::harness {

std::string ReplicaNameOf(const engine::ReplicaKey& key) {
  return ReplicaNameOf(spec::TaskName(key.replica), key.run.trial);
}

std::string ReplicaNameOf(const std::string& task, const std::string& trial) {
  const std::string name = ReplicaName(task);
  return trial.empty() ? name : name + "/" + trial;
}

}  // namespace caip::harness
