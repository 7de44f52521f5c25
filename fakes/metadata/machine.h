#pragma once
// A machine as its metadata server describes it, and the table of all machines.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace caip::metadata {

inline constexpr char kCloudPlatformScope[] = "https://www.googleapis.com/auth/cloud-platform";

/// One machine: a replica, or the host of the emulator itself.
struct Machine {
  std::string project_id;
  std::string project_number;
  std::map<std::string, std::string> project_attributes = {};
  uint64_t instance_id = 0;
  std::string name = {};          // "cmle-training-master-e118e0f997-0"
  std::string hostname = {};      // "<name>.c.<project>.internal"
  std::string zone = {};          // "us-central1-b"
  std::string machine_type = {};  // "n1-standard-4"
  std::string image = {};         // "projects/deeplearning-platform-release/global/images/..."
  std::string cpu_platform = "Intel Haswell";
  std::string ip = "127.0.0.1";  // of the emulator's own host
  std::map<std::string, std::string> attributes = {};
  std::vector<std::string> tags = {};
  bool preemptible = false;
  bool preempted = false;
  std::string maintenance_event = "NONE";  // "MIGRATE_ON_HOST_MAINTENANCE", ...
  Instant created = {};

  std::string service_account = {};  // its e-mail; "" none
  std::vector<std::string> scopes = {kCloudPlatformScope};
  std::string job = {};      // "" for the host itself
  std::string replica = {};  // "worker-replica-1"
};

/// Stores the machine of each listener; "" is the main listener. Scenarios change machines
/// (`Change`), which wakes requests that wait for a change. Any thread.
class MachineTable {
 public:
  explicit MachineTable(Machine host);

  void Put(const std::string& listener, Machine machine);
  /// False if the listener has no machine.
  bool Change(const std::string& listener, const std::function<void(Machine&)>& change);
  /// Finds the listener of the machine at a peer's address. May block.
  using Finder = std::function<std::string(const std::string& peer)>;
  /// Adds a listener that several machines use.
  void PutShared(const std::string& listener, Finder finder);
  bool IsShared(const std::string& listener) const;
  /// Returns the listener of the machine that sent a request: `listener` itself, unless it is
  /// shared.
  std::string ResolveListener(const std::string& listener, const std::string& peer) const;
  /// Ends waiting requests of the machine with kRemoved.
  void Remove(const std::string& listener);

  struct Snapshot {
    Machine machine;
    uint64_t version = 0;  // grows with each change of the machine
  };
  std::optional<Snapshot> Find(const std::string& listener) const;

  enum class WaitResult { kChanged, kRemoved, kTimeout };
  using Deadline = MonotonicTime;
  /// Blocks until the machine differs from `version`, at most until `deadline`. kRemoved: the
  /// machine has gone, or the client of this thread.
  WaitResult WaitForChange(const std::string& listener, uint64_t version,
                           std::optional<Deadline> deadline) const;

  /// Ends all waiting requests, and later ones, with kRemoved.
  void Close();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, Snapshot> machines_;
  std::map<std::string, Finder> shared_;
  uint64_t versions_ = 0;
  bool closed_ = false;
};

}  // namespace caip::metadata
