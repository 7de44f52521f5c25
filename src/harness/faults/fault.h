#pragma once
// A fault as data: what, to whom, and when.

#include <cstdint>
#include <optional>
#include <string>

#include "harness/faults/trigger.h"

namespace caip::harness {

/// One fault of a scenario. Which of the parameters count follows from the kind (fault_kind.h).
struct Fault {
  std::string name;     // unique in its scenario: "kill 1"
  std::string kind;     // "kill"
  std::string replica;  // "worker-0"; "" of the job's own faults
  Trigger when;
  std::optional<Trigger> until = {};         // hold and hang: ends it; kill: holds the new VM back
  std::optional<Duration> lasts = {};        // hang: ends it, in the wall's time
  int status = 503;                          // of refused calls
  std::optional<uint64_t> break_after = {};  // bytes
  Duration delay{0};                         // latency of storage; step of a clock
  bool stale_listing = false;
  std::string how = {};  // of a failing preparation
};

}  // namespace caip::harness
