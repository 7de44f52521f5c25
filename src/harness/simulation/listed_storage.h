#pragma once
// Cloud Storage out of three lists, and the job that fits it.

#include <set>
#include <string>

#include "ml/job.h"
#include "run/storage_probe.h"

namespace caip::harness {

/// Buckets and objects by name; what is not in the sets is not there.
class ListedStorage final : public run::StorageProbe {
 public:
  std::set<std::string> buckets = {"bucket"};
  std::set<std::string> read_only;
  std::set<std::string> objects = {"trainer-0.1.tar.gz"};

  bool BucketExists(const std::string& bucket) const override { return buckets.contains(bucket); }
  bool Writable(const std::string& bucket, const std::string&) override {
    return !read_only.contains(bucket);
  }
  bool ObjectReadable(const std::string&, const std::string& object) const override {
    return objects.contains(object);
  }
};

/// A valid job: Python, CUSTOM, with so many workers and parameter servers.
ml::Job AJob(const std::string& id, int workers = 2, int servers = 1);

}  // namespace caip::harness
