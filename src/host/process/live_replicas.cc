#include "host/process/live_replicas.h"

namespace caip::host {

uint64_t LiveReplicas::Enter(LiveReplica replica) {
  const std::lock_guard lock(mutex_);
  numbers_[replica.key] = ++last_number_;
  replicas_[last_number_] = std::move(replica);
  return last_number_;
}

uint64_t LiveReplicas::NumberOf(const engine::ReplicaKey& key, bool to_kill) {
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return 0;
  LiveReplica& replica = replicas_.at(found->second);
  if (replica.is_ending) return 0;
  replica.was_killed |= to_kill;
  return found->second;
}

std::optional<LiveReplica> LiveReplicas::Find(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(number);
  if (found == replicas_.end() || found->second.is_ending) return std::nullopt;
  return found->second;
}

std::vector<std::pair<uint64_t, engine::ReplicaKey>> LiveReplicas::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<uint64_t, engine::ReplicaKey>> all;
  for (const auto& [number, replica] : replicas_) all.emplace_back(number, replica.key);
  return all;
}

void LiveReplicas::NoteStarted(uint64_t number, LivingReplica living) {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(number);
  if (found != replicas_.end()) found->second.living = std::move(living);
}

std::vector<LivingReplica> LiveReplicas::LivingOf(const std::string& project,
                                                  const std::string& job_id) const {
  const std::lock_guard lock(mutex_);
  std::vector<LivingReplica> found;
  for (const auto& [number, replica] : replicas_) {
    const engine::RunKey& run = replica.key.run;
    const bool is_of_job = run.project == project && run.job_id == job_id;
    if (is_of_job && replica.living && !replica.is_ending) found.push_back(*replica.living);
  }
  return found;
}

bool LiveReplicas::AwaitFrozen(uint64_t number, std::function<void()> frozen) {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(number);
  if (found == replicas_.end()) return false;
  found->second.on_frozen.push_back(std::move(frozen));
  return true;
}

void LiveReplicas::ReportFrozen(uint64_t number) {
  std::function<void()> frozen;
  {
    const std::lock_guard lock(mutex_);
    const auto found = replicas_.find(number);
    if (found == replicas_.end() || found->second.on_frozen.empty()) return;
    frozen = std::move(found->second.on_frozen.front());
    found->second.on_frozen.pop_front();
  }
  frozen();
}

bool LiveReplicas::BeginEnd(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(number);
  return found != replicas_.end() && !std::exchange(found->second.is_ending, true);
}

LiveReplica LiveReplicas::Remove(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(number);
  LiveReplica replica = std::move(found->second);
  replicas_.erase(found);
  const auto named = numbers_.find(replica.key);  // a later start may own the key now
  if (named != numbers_.end() && named->second == number) numbers_.erase(named);
  return replica;
}

}  // namespace caip::host
