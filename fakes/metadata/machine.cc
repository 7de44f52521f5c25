#include "fakes/metadata/machine.h"

#include <algorithm>

#include "base/abandoned_work.h"

namespace caip::metadata {

MachineTable::MachineTable(Machine host) { machines_[""] = {std::move(host), ++versions_}; }

void MachineTable::Put(const std::string& listener, Machine machine) {
  {
    const std::lock_guard lock(mutex_);
    machines_[listener] = {std::move(machine), ++versions_};
  }
  changed_.notify_all();
}

bool MachineTable::Change(const std::string& listener,
                          const std::function<void(Machine&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = machines_.find(listener);
    if (found == machines_.end()) return false;
    change(found->second.machine);
    found->second.version = ++versions_;
  }
  changed_.notify_all();
  return true;
}

void MachineTable::Remove(const std::string& listener) {
  {
    const std::lock_guard lock(mutex_);
    machines_.erase(listener);
    shared_.erase(listener);
  }
  changed_.notify_all();
}

void MachineTable::PutShared(const std::string& listener, Finder finder) {
  const std::lock_guard lock(mutex_);
  shared_[listener] = std::move(finder);
}

bool MachineTable::IsShared(const std::string& listener) const {
  const std::lock_guard lock(mutex_);
  return shared_.contains(listener);
}

std::string MachineTable::ResolveListener(const std::string& listener,
                                          const std::string& peer) const {
  Finder finder;
  {
    const std::lock_guard lock(mutex_);
    const auto found = shared_.find(listener);
    if (found == shared_.end()) return listener;
    finder = found->second;
  }
  return finder(peer);
}

std::optional<MachineTable::Snapshot> MachineTable::Find(const std::string& listener) const {
  const std::lock_guard lock(mutex_);
  const auto found = machines_.find(listener);
  if (found == machines_.end()) return std::nullopt;
  return found->second;
}

MachineTable::WaitResult MachineTable::WaitForChange(const std::string& listener, uint64_t version,
                                                     std::optional<Deadline> deadline) const {
  std::unique_lock lock(mutex_);
  WaitResult result = WaitResult::kTimeout;
  const auto is_decided = [&] {
    const auto found = machines_.find(listener);
    if (closed_ || found == machines_.end()) {
      result = WaitResult::kRemoved;
    } else if (found->second.version != version) {
      result = WaitResult::kChanged;
    }
    return result != WaitResult::kTimeout;
  };
  while (!is_decided()) {
    const Deadline beat = MonotonicNow() + kClientCheckInterval;
    const Deadline until = deadline ? std::min(*deadline, beat) : beat;
    if (changed_.wait_until(lock, until, is_decided) || until == deadline) break;
    lock.unlock();
    const bool is_abandoned = IsWorkAbandoned();
    lock.lock();
    if (is_abandoned) return WaitResult::kRemoved;
  }
  return result;
}

void MachineTable::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace caip::metadata
