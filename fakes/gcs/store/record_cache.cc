#include "fakes/gcs/store/record_cache.h"

#include <utility>

namespace caip::gcs {

std::optional<ObjectRecord> RecordCache::Find(const std::string& bucket, const std::string& name) {
  std::string key = KeyOf(bucket, name);
  if (const auto at = young_.find(key); at != young_.end()) return at->second;
  const auto at = old_.find(key);
  if (at == old_.end()) return std::nullopt;
  ObjectRecord record = std::move(at->second);
  old_.erase(at);
  return Add(std::move(key), std::move(record))->second;
}

void RecordCache::Put(const ObjectRecord& record) {
  std::string key = KeyOf(record.info.bucket, record.info.name);
  old_.erase(key);
  Add(std::move(key), record);
}

void RecordCache::Forget(const std::string& bucket, const std::string& name) {
  const std::string key = KeyOf(bucket, name);
  young_.erase(key);
  old_.erase(key);
}

void RecordCache::Clear() {
  young_.clear();
  old_.clear();
}

RecordCache::Records::iterator RecordCache::Add(std::string key, ObjectRecord record) {
  if (young_.size() >= generation_size_ && !young_.contains(key)) {
    old_ = std::exchange(young_, {});
  }
  return young_.insert_or_assign(std::move(key), std::move(record)).first;
}

}  // namespace caip::gcs
