#pragma once
// Assigns accelerators to replicas.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/devices/devices.h"
#include "host/machine/addresses.h"

namespace caip::host {

/// The treatment of jobs that request more accelerators than the host has.
enum class DeviceMode {
  kByHost,  // kQueue if the host has GPUs, else kCpu
  kQueue,   // a GPU is lent to one replica at a time; jobs wait
  kShare,   // GPUs are lent in turn, to any number of replicas
  kCpu,     // no replica sees a GPU
};

/// engine::DeviceBinder over an inventory. Reads the inventory when the first job requests devices,
/// so that other jobs need not wait. In queue mode it claims each GPU on the whole host, so that
/// two emulators never lend the same one.
class DeviceBinderOnHost final : public engine::DeviceBinder {
 public:
  using ReadDevices = std::function<DeviceInventory()>;
  DeviceBinderOnHost(DeviceMode mode, ReadDevices read);

  engine::DeviceAnswer Bind(const engine::RunKey& run, const std::vector<run::ReplicaId>& replicas,
                            const std::vector<engine::DeviceRequest>& requests) override;
  void Release(const engine::RunKey& run) override;

 private:
  struct Loan {
    std::vector<size_t> gpus;  // indices into the inventory; with repetition in share mode
    std::vector<HostClaim> claims;
  };
  using Granted = std::map<run::ReplicaId, std::vector<size_t>>;

  const DeviceInventory& Inventory();
  DeviceMode ModeNow();
  bool TakeExclusively(const std::vector<engine::DeviceRequest>& requests, Granted& granted,
                       Loan& loan);
  void TakeShared(const std::vector<engine::DeviceRequest>& requests, Granted& granted, Loan& loan,
                  std::vector<std::string>& warnings);
  bool TakeTpu(const engine::DeviceRequest& request, engine::LentDevices& lent, Loan& loan,
               std::vector<std::string>& warnings);
  void WarnOfOtherTypes(const std::vector<engine::DeviceRequest>& requests, const Granted& granted,
                        std::vector<std::string>& warnings);
  engine::LentDevices Lent(const std::vector<size_t>& gpus) const;

  const DeviceMode mode_;
  const ReadDevices read_;
  std::once_flag read_once_;
  DeviceInventory inventory_;
  std::vector<int> lent_;  // the number of holders of each GPU
  std::optional<engine::RunKey> tpu_holder_;
  std::map<engine::RunKey, Loan> loans_;
};

}  // namespace caip::host
