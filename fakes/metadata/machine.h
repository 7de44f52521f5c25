#pragma once
// A machine as its metadata server describes it, and the book of those there are.

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
struct Guest {
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
  std::string ip = "127.0.0.1";
  std::map<std::string, std::string> attributes = {};
  std::vector<std::string> tags = {};
  bool preemptible = false;
  bool preempted = false;
  std::string maintenance_event = "NONE";  // "MIGRATE_ON_HOST_MAINTENANCE", ...
  Instant created = {};

  std::string service_account = {};  // its e-mail; "" none
  std::vector<std::string> scopes = {kCloudPlatformScope};
  std::string job = {};      // "" of the host itself
  std::string replica = {};  // "worker-replica-1"
};

/// Who asks at which listener; "" is the main one. Any thread. Scenarios change what a guest sees
/// (`Change`), and those that wait for it wake up.
class GuestBook {
 public:
  explicit GuestBook(Guest host);

  void Put(const std::string& listener, Guest guest);
  /// False where nobody is there.
  bool Change(const std::string& listener, const std::function<void(Guest&)>& change);
  /// A listener to which several guests come: `whose` tells the listener that stands for the one at
  /// a peer's address. It may take a while.
  using Finder = std::function<std::string(const std::string& peer)>;
  void PutShared(const std::string& listener, Finder whose);
  bool IsShared(const std::string& listener) const;
  /// The listener under which the guest is entered that has come to this one.
  std::string Behind(const std::string& listener, const std::string& peer) const;
  /// Whoever waits for a change of it is told that it is gone.
  void Remove(const std::string& listener);

  struct Sight {
    Guest guest;
    uint64_t version = 0;  // of the book: grows with each change of this guest
  };
  std::optional<Sight> Find(const std::string& listener) const;

  enum class News { kChanged, kGone, kNone };
  using Deadline = std::chrono::steady_clock::time_point;
  /// Blocks until the guest is another than it was at `version`, at most until `deadline`.
  News WaitForChange(const std::string& listener, uint64_t version,
                     std::optional<Deadline> deadline) const;

  /// The server ends: everybody who waits is sent away, now and later.
  void Close();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, Sight> guests_;
  std::map<std::string, Finder> shared_;
  uint64_t versions_ = 0;
  bool closed_ = false;
};

}  // namespace caip::metadata
