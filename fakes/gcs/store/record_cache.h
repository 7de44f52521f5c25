#pragma once
// A cache of recently used records, so that a read does not query SQLite.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

/// Holds two generations of records. When the young one is full, it becomes the old one; records
/// that are found in the old one move to the young one. Guarded by its owner.
class RecordCache {
 public:
  explicit RecordCache(size_t generation_size) : generation_size_(generation_size) {}

  std::optional<ObjectRecord> Find(const std::string& bucket, const std::string& name);
  void Put(const ObjectRecord& record);
  void Forget(const std::string& bucket, const std::string& name);
  void Clear();
  size_t size() const { return young_.size() + old_.size(); }

 private:
  using Records = std::unordered_map<std::string, ObjectRecord>;

  // No bucket's name has a slash.
  static std::string KeyOf(const std::string& bucket, const std::string& name) {
    return bucket + "/" + name;
  }
  Records::iterator Add(std::string key, ObjectRecord record);

  size_t generation_size_;
  Records young_;
  Records old_;
};

}  // namespace caip::gcs
