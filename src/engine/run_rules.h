#pragma once
// What is the same for every run: delays, chance, and what replicas are started with.

#include <cstdint>

#include "base/clock.h"
#include "engine/launch.h"
#include "run/limits.h"
#include "run/queueing.h"

namespace caip::engine {

struct RunRules {
  uint64_t seed = 1;
  run::DelayModel queue_delay;         // from create to the first chance of machines
  run::DelayModel provisioning_delay;  // until all machines of an attempt are there
  run::DelayModel vm_restart_delay;    // until a lost machine is replaced
  /// How long a replica whose program failed runs again before its job fails, for APIs that start
  /// it again; 0: not at all.
  Duration failing_restart{0};
  Duration grace = run::kGraceDefault;  // between SIGTERM and SIGKILL
  LaunchSettings launch;
  run::ApiPorts apis;  // set by the engine
};

}  // namespace caip::engine
