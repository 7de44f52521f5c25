#pragma once
// What is the same for every run: delays, chance, and what replicas are started with.

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "engine/launch.h"
#include "ml/validate/validate.h"
#include "run/queueing.h"

namespace caip::engine {

struct RunRules {
  uint64_t seed = 1;
  run::DelayModel queue_delay;                // from create to the first chance of machines
  run::DelayModel provisioning_delay;         // until all machines of an attempt are there
  run::DelayModel vm_restart_delay;           // until a lost machine is replaced
  Duration grace = std::chrono::seconds(30);  // between SIGTERM and SIGKILL
  std::string project_number;                 // of the links in errorMessage; "" the project's id
  ml::ValidationOptions validation;           // what regions, machines and runtimes there are
  LaunchSettings launch;
};

/// maxRunningTime of a job that names none (docs/service/api.md, section 7: Scheduling).
inline constexpr Duration kMaxRunningDefault = std::chrono::hours(24 * 7);

}  // namespace caip::engine
