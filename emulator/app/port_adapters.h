#pragma once
// Ports of the engine and the packager, implemented by the fakes: Cloud Storage and the log.

#include "engine/ports.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/logging/book/log_book.h"
#include "host/python/packages.h"
#include "run/storage_probe.h"

namespace caip::app {

/// Any thread. `buckets` outlives it.
class StorageAdapter final : public run::StorageProbe, public host::PackageSource {
 public:
  /// `create_buckets`: a missing bucket counts as present, and is created by the first write.
  StorageAdapter(gcs::DirectoryStore& buckets, bool create_buckets)
      : buckets_(buckets), create_buckets_(create_buckets) {}

  bool BucketExists(const std::string& bucket) const override;
  bool Writable(const std::string& bucket, const std::string& prefix) override;
  bool ObjectReadable(const std::string& bucket, const std::string& object) const override;

  Result<Facts> Describe(const std::string& uri) override;
  Status Fetch(const std::string& uri, const Path& destination) override;

 private:
  gcs::DirectoryStore& buckets_;
  bool create_buckets_;
};

/// The names that AI Platform Training gives the entries of its jobs.
inline const logging::JobLogNames kTrainingLogNames = {.resource_type = "ml_job",
                                                       .service = "ml.googleapis.com"};

/// Any thread. `book` outlives it.
class LogAdapter final : public engine::LogSink {
 public:
  explicit LogAdapter(logging::LogBook& book) : book_(book) {}
  void Write(std::vector<engine::LogLine> lines) override;
  Status Flush() override { return book_.Flush(); }
  bool IsStored(std::function<void()> stored) override { return book_.IsStored(std::move(stored)); }

 private:
  logging::LogBook& book_;
};

}  // namespace caip::app
