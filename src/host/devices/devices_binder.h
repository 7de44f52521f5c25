#pragma once
// Which replica gets which accelerators.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/ports.h"
#include "host/devices/devices.h"
#include "host/machine/addresses.h"

namespace caip::host {

/// How jobs that ask for more accelerators than the host has are treated.
enum class DeviceMode {
  kByHost,  // kQueue where there are GPUs, else kCpu
  kQueue,   // a GPU is lent to one replica at a time; jobs wait
  kShare,   // GPUs are lent in turn, to any number of replicas
  kCpu,     // no replica sees a GPU
};

/// engine::DeviceBinder over an inventory that is read when the first job asks for devices: a host
/// or a job without any pays nothing. In queue mode a GPU is claimed on the whole host, so that two
/// emulators never lend the same one.
class DeviceBinderOnHost final : public engine::DeviceBinder {
 public:
  using ReadDevices = std::function<DeviceInventory()>;
  DeviceBinderOnHost(DeviceMode mode, ReadDevices read);
  ~DeviceBinderOnHost() override;

  engine::DeviceAnswer Bind(const engine::RunKey& run, const std::vector<run::ReplicaId>& replicas,
                            const std::vector<engine::DeviceRequest>& requests) override;
  void Release(const engine::RunKey& run) override;

  /// Reads the inventory on another thread, for servers that have the time. At most once.
  void Warm();

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
  bool TakeTpu(const engine::DeviceRequest& request, engine::Environment& environment, Loan& loan,
               std::vector<std::string>& warnings);
  void WarnOfOtherTypes(const std::vector<engine::DeviceRequest>& requests, const Granted& granted,
                        std::vector<std::string>& warnings);
  engine::Environment Visible(const std::vector<size_t>& gpus);

  const DeviceMode mode_;
  const ReadDevices read_;
  std::once_flag read_once_;
  DeviceInventory inventory_;
  std::vector<int> lent_;  // how many hold each GPU
  std::optional<engine::RunKey> tpu_holder_;
  std::map<engine::RunKey, Loan> loans_;
  std::thread warming_;
};

}  // namespace caip::host
