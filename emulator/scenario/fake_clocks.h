#pragma once
// Clocks of replicas that can be stepped: by libfaketime, where it is installed.

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"

namespace caip::scenario {

/// The library of this host; nullopt where there is none.
std::optional<Path> FakeTimeLibrary();

/// Why clocks cannot be stepped here, found out by bending one; "" they can. Tried once a process.
std::string LackOfFakeTime();

/// Any thread.
class FakeClocks {
 public:
  /// The files that tell the time are in `directory`.
  explicit FakeClocks(Path directory) : directory_(std::move(directory)) {}

  /// From now on the replica's processes see our clock. Each boot begins with the host's time.
  void Give(const std::string& replica, engine::Environment& environment);
  /// What it sees steps by so much, on top of earlier steps.
  Status Step(const std::string& replica, Duration by);

 private:
  Status Write(const std::string& replica);

  Path directory_;
  std::mutex mutex_;
  std::map<std::string, Duration> offsets_;
};

}  // namespace caip::scenario
