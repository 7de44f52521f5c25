#pragma once
// Devices and addresses that are only counted.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::harness {

/// Lends out of a stock of devices by type.
class CountedDevices final : public engine::DeviceBinder {
 public:
  std::map<std::string, int64_t> stock;
  bool never = false;  // what exceeds the stock is refused, instead of waiting

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

/// 127.x.y.z:2222, never the same for two runs at a time.
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

}  // namespace caip::harness
