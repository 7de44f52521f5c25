#include "run/api_port.h"

namespace caip::run {

std::string ApiJob::ReplicaName(const ReplicaId& replica) const {
  return replica.role + " " + std::to_string(replica.index);
}

std::string ApiJob::HostName(const ReplicaId& replica, const RunNames& names) const {
  return replica.role + "-" + names.cluster_id + "-" + std::to_string(replica.index);
}

std::string ApiJob::ReplicaFailed(const ReplicaFailure& failure, const RunKey&) const {
  return "The replica " + ReplicaName(failure.replica) + texts::FailurePredicate(failure) + ".";
}

std::string ApiJob::CouldNotStart(const ReplicaId& replica, std::string_view reason,
                                  const RunKey&) const {
  return texts::CouldNotStart(ReplicaName(replica), reason);
}

const ApiPort* ApiPorts::Find(std::string_view name) const {
  if (name.empty() || name == first->name()) return first;
  for (const ApiPort* api : others) {
    if (name == api->name()) return api;
  }
  return nullptr;
}

std::string ApiJob::OutOfStock() const { return texts::OutOfStock(spec_.region); }

std::string ApiJob::WaitedTooLong() const {
  return texts::WaitedTooLong(spec_.limits.max_wait.value_or(Duration(0)));
}

std::string ApiJob::RanTooLong() const { return texts::RanTooLong(spec_.limits.max_running); }

std::string ApiJob::TrialsFailed(const StudyProgress& progress, std::string_view trial,
                                 std::string_view last) const {
  return texts::TrialsFailed(progress, trial, last, "the limit of failed trials");
}

}  // namespace caip::run
