#pragma once
// A directory store in a temporary directory, with short words for what tests do to it.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::gcs {

class StoreWorld {
 public:
  explicit StoreWorld(bool durable = false) : durable_(durable) { Reopen(); }

  void Close() { store_.reset(); }
  /// As after a restart of the emulator.
  void Reopen() { Open({.root = root(), .durable = durable_}); }
  void Open(DirectoryStoreOptions options) {
    store_.reset();
    auto opened = DirectoryStore::Open(std::move(options), clock_);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    store_ = std::move(*opened);
  }
  DirectoryStore& operator*() { return *store_; }
  DirectoryStore* operator->() { return store_.get(); }
  VirtualClock& clock() { return clock_; }
  Path root() const { return directory_.path() / "buckets"; }
  Path uploads() const { return directory_.path() / "uploads"; }
  Path side_file() const { return directory_.path() / "buckets.db"; }
  Path File(const std::string& path) const { return root() / "bkt" / path; }

  Result<ObjectInfo> TryPut(const std::string& name, std::string_view bytes,
                            const Preconditions& preconditions = {}, ObjectInfo info = {}) {
    ASSIGN_OR_RETURN(auto writer, store_->NewObject("bkt", name));
    RETURN_IF_ERROR(writer->Append(bytes));
    return writer->Commit(std::move(info), preconditions, std::nullopt, std::nullopt);
  }
  ObjectInfo Put(const std::string& name, std::string_view bytes) {
    auto info = TryPut(name, bytes);
    EXPECT_TRUE(info.ok()) << info.error().message;
    return info.ok() ? *info : ObjectInfo();
  }
  std::string Get(const std::string& name) {
    auto reader = store_->OpenObject("bkt", name);
    if (!reader.ok()) return "error: " + reader.error().message;
    std::string bytes((*reader)->info().size, '\0');
    for (size_t at = 0; at < bytes.size();) {
      const auto count = (*reader)->ReadAt(at, bytes.data() + at, bytes.size() - at);
      if (!count.ok() || *count == 0) return "error: short";
      at += *count;
    }
    return bytes;
  }
  bool Has(const std::string& name) { return store_->GetObject("bkt", name).ok(); }
  Status Delete(const std::string& name) { return store_->DeleteObject("bkt", name, {}); }
  std::vector<std::string> Names(const ListQuery& query = {}) {
    std::vector<std::string> names;
    const auto listing = store_->List("bkt", query);
    EXPECT_TRUE(listing.ok());
    for (const ObjectInfo& item : listing->items) names.push_back(item.name);
    return names;
  }
  void DropByHand(const std::string& path, std::string_view bytes) {
    std::filesystem::create_directories(File(path).parent_path());
    std::ofstream(File(path), std::ios::binary) << bytes;
  }

 private:
  TemporaryDirectory directory_;
  VirtualClock clock_{Instant(std::chrono::hours(24 * 365 * 50))};
  bool durable_;
  std::unique_ptr<DirectoryStore> store_;
};

}  // namespace caip::gcs
