// Which changes of a bucket exclude each other, and what lookups show of those that have not ended.

#include <algorithm>

#include "fakes/gcs/store/directory_store.h"

namespace caip::gcs {
namespace {

// Whether those of the waiting changes have begun that came before the change `later`.
bool HaveBegun(const std::set<uint64_t>& waiting, uint64_t later) {
  return waiting.empty() || *waiting.begin() >= later;
}

}  // namespace

DirectoryStore::BucketLock& DirectoryStore::LockOf(const std::string& bucket) const {
  return locks_[std::hash<std::string>()(bucket) % locks_.size()];
}

template <typename Condition>
void DirectoryStore::WaitForChange(BucketLock& its, std::unique_lock<std::mutex>& lock,
                                   const Condition& may_begin) {
  if (may_begin()) return;
  const auto place = its.waiting.insert(its.changes++).first;
  its.settled.wait(lock, may_begin);
  its.waiting.erase(place);
  its.settled.notify_all();
}

std::unique_lock<std::mutex> DirectoryStore::LockForChange(
    const std::string& bucket, const std::vector<std::string>& names) const {
  BucketLock& its = LockOf(bucket);
  std::unique_lock lock(its.mutex);
  const auto concerns = [&](const auto& key) {
    const auto& name = std::get<1>(key);
    return std::get<0>(key) == bucket &&
           (names.empty() || std::find(names.begin(), names.end(), name) != names.end());
  };
  WaitForChange(its, lock, [&] {
    if (names.empty() && its.unsaved_buckets.FindSaved(bucket)) return false;
    return std::none_of(its.placing.begin(), its.placing.end(),
                        [&](const auto& item) { return concerns(item.first); }) &&
           std::none_of(its.unsynced.begin(), its.unsynced.end(), concerns) &&
           !its.unsaved_objects.Any(concerns);
  });
  return lock;
}

std::unique_lock<std::mutex> DirectoryStore::LockForUpdate(const std::string& bucket,
                                                           const std::string& name) const {
  BucketLock& its = LockOf(bucket);
  std::unique_lock lock(its.mutex);
  const uint64_t later = its.changes;
  its.settled.wait(lock, [&] {
    return HaveBegun(its.waiting, later) && !its.placing.contains({bucket, name}) &&
           !its.unsynced.contains({bucket, name});
  });
  return lock;
}

std::unique_lock<std::mutex> DirectoryStore::LockForSettings(const std::string& bucket) const {
  BucketLock& its = LockOf(bucket);
  std::unique_lock lock(its.mutex);
  WaitForChange(its, lock, [&] { return its.unsaved_buckets.FindSaved(bucket) == nullptr; });
  return lock;
}

std::unique_lock<std::mutex> DirectoryStore::LockForSettingsUpdate(
    const std::string& bucket) const {
  BucketLock& its = LockOf(bucket);
  std::unique_lock lock(its.mutex);
  const uint64_t later = its.changes;
  its.settled.wait(lock, [&] { return HaveBegun(its.waiting, later); });
  return lock;
}

void DirectoryStore::UnsyncedChange::Begin(const std::string& name) {
  if (!store_.options_.durable) return;
  store_.LockOf(bucket_).unsynced.insert({bucket_, name});
  store_.side_->HoldObject(bucket_, name);
  names_.push_back(name);
}

void DirectoryStore::UnsyncedChange::End() {
  if (names_.empty()) return;
  const std::lock_guard lock(store_.LockOf(bucket_).mutex);
  EndLocked();
}

void DirectoryStore::UnsyncedChange::EndLocked() {
  BucketLock& its = store_.LockOf(bucket_);
  for (const std::string& name : names_) {
    store_.side_->ReleaseObject(bucket_, name);
    its.unsynced.erase({bucket_, name});
  }
  names_.clear();
  its.settled.notify_all();
}

void DirectoryStore::ShowSaved(ObjectRecord* record) const {
  const ObjectInfo& info = record->info;
  const auto& unsaved = LockOf(info.bucket).unsaved_objects;
  const auto* const saved = unsaved.FindSaved({info.bucket, info.name, info.generation});
  if (saved) *record = *saved;
}

const RecordPtr* DirectoryStore::FindPlacing(const std::string& bucket,
                                             const std::string& name) const {
  const auto& placing = LockOf(bucket).placing;
  const auto at = placing.find({bucket, name});
  return at == placing.end() ? nullptr : &at->second;
}

// The record of an object, found without the lock. nullptr if there is none, or if it may have
// unsaved metadata.
RecordPtr DirectoryStore::FindSaved(const std::string& bucket, const std::string& name) const {
  const auto& unsaved = LockOf(bucket).unsaved_objects;
  const auto count = unsaved.CountIfEnded();
  if (!count) return nullptr;
  auto record = side_->FindObject(bucket, name);
  if (!record.ok() || unsaved.HasBegunSince(*count)) return nullptr;
  return std::move(*record);
}

// The record of a version that is not live.
Result<std::optional<ObjectRecord>> DirectoryStore::FindVersionRecord(
    const std::string& bucket, const std::string& name, const Version& version) const {
  const std::lock_guard lock(LockOf(bucket).mutex);
  ASSIGN_OR_RETURN(auto record, side_->FindVersion(bucket, name, version.generation));
  if (record && !version.unsaved) ShowSaved(&*record);
  return record;
}

}  // namespace caip::gcs
