#pragma once
// What replicas run on, and what they are lent: processes, Pythons, packages, GPUs, addresses.

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/settings/options.h"
#include "engine/ports.h"
#include "host/metrics/metric_launcher.h"
#include "host/process/process_launcher.h"
#include "host/python/interpreters.h"
#include "host/python/packages.h"

namespace caip::app {

class Interference;

/// In the order of their making; nothing is empty once it is open.
struct ReplicaHost {
  std::unique_ptr<engine::LogSink> watched_output;  // around the log, where somebody interferes
  std::unique_ptr<host::ProcessLauncher> launcher;
  std::unique_ptr<host::MetricLauncher> metrics;  // around `launcher`
  std::unique_ptr<engine::Launcher> watched;      // around `metrics`, where somebody interferes
  std::unique_ptr<host::Interpreters> interpreters;
  std::unique_ptr<host::PackagerOnHost> packager;
  std::unique_ptr<engine::DeviceBinder> devices;
  std::unique_ptr<engine::AddressLender> addresses;

  engine::Launcher& outermost() { return watched ? *watched : *metrics; }
};

/// `state` (what it holds) and `clock` outlive what is made.
Result<ReplicaHost> OpenReplicaHost(const EmulatorOptions& options, const KeptState& state,
                                    Clock& clock, Interference* interference);

}  // namespace caip::app
