#pragma once
// Clocks of replicas that a fault can step. They need libfaketime.

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"

namespace caip::scenario {

/// The library of this host. nullopt if it is not installed.
std::optional<Path> FindFakeTimeLibrary();

/// Why clocks cannot be stepped on this host; "" if they can. The first call runs a test program.
std::string DescribeMissingFakeTime();

/// Any thread may call it.
class FakeClocks {
 public:
  /// Keeps the files with the offsets in `directory`.
  explicit FakeClocks(Path directory) : directory_(std::move(directory)) {}

  /// Gives the processes of the replica's next boot a clock that shows the host's time.
  void Give(const std::string& replica, engine::ReplicaLaunch& launch);
  /// Steps the replica's clock, in addition to earlier steps.
  Status Step(const std::string& replica, Duration by);

 private:
  Status Write(const std::string& replica);

  Path directory_;
  std::mutex mutex_;
  std::map<std::string, Duration> offsets_;
};

}  // namespace caip::scenario
