#include "harness/events/replica_name.h"

#include <utility>

#include "base/text.h"

namespace caip::harness {

std::string ReplicaNameOf(const engine::ReplicaKey& key) {
  return ReplicaNameOf(run::Name(key.replica), key.run.trial);
}

std::string ReplicaNameOf(const std::string& task, const std::string& trial) {
  const std::string name = ReplicaName(task);
  return trial.empty() ? name : name + "/" + trial;
}

std::string ReplicaName(std::string task) { return ReplaceAll(std::move(task), "-replica-", "-"); }

std::vector<std::string> NamesInTrials(const std::vector<std::string>& replicas, int64_t trials) {
  std::vector<std::string> names;
  for (int64_t trial = 1; trial <= trials; ++trial) {
    for (const std::string& replica : replicas) {
      names.push_back(replica + "/" + std::to_string(trial));
    }
  }
  return names;
}

}  // namespace caip::harness
