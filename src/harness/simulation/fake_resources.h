#pragma once
// Devices, addresses and storage that exist only as numbers and names.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "ml/job.h"
#include "run/storage_probe.h"

namespace caip::harness {

/// Lends devices from a stock, by type.
class CountedDevices final : public engine::DeviceBinder {
 public:
  std::map<std::string, int64_t> stock;
  bool never = false;  // requests above the stock are refused instead of delayed

  engine::DeviceAnswer Bind(const engine::RunKey& run, const std::vector<run::ReplicaId>& replicas,
                            const std::vector<engine::DeviceRequest>& requests) override;
  void Release(const engine::RunKey& run) override { lent_.erase(run); }
  bool Holds(const engine::RunKey& run) const { return lent_.contains(run); }
  size_t lent() const { return lent_.size(); }
  void LoseAll() { lent_.clear(); }

 private:
  int64_t Free(const std::string& type) const;
  std::map<engine::RunKey, std::map<std::string, int64_t>> lent_;
};

/// Lends 127.x.y.z:2222. Two runs never have the same address at the same time.
class NumberedAddresses final : public engine::AddressLender {
 public:
  Result<std::vector<std::string>> Lend(const engine::RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override;
  void Release(const engine::RunKey& run) override;
  bool Holds(const engine::RunKey& run) const { return lent_.contains(run); }
  size_t lent() const { return lent_.size(); }
  void LoseAll() { lent_.clear(), in_use_.clear(); }

 private:
  std::map<engine::RunKey, std::vector<std::string>> lent_;
  std::set<std::string> in_use_;
  uint32_t last_ = 1;
};

/// Storage with exactly these buckets and objects.
class FakeStorage final : public run::StorageProbe {
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

/// A valid job with a Python package, tier CUSTOM, and these numbers of workers and servers.
ml::Job AJob(const std::string& id, int workers = 2, int servers = 1);

}  // namespace caip::harness
