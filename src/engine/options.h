#pragma once
// How an engine is set up, and what it is connected to.

#include <functional>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "engine/run_rules.h"
#include "run/api_port.h"

namespace caip::engine {

struct EngineOptions {
  /// Delays, chance, grace, and what replicas are started with. The engine sets
  /// `rules.launch.boot_disk` and `rules.apis`; the seed is in every job's log.
  RunRules rules;
  int jobs_max = 0;  // so many are out of the queue at once; 0: no limit
  /// Called on the engine's thread with every event of every run and, indented, its effects.
  std::function<void(const RunKey& run, const std::string& what)> journal;
};

/// The world. All of it outlives the engine.
struct EnginePorts {
  Launcher& launcher;
  Packager& packager;
  DeviceBinder& devices;
  AddressLender& addresses;
  JobStore& store;
  LogSink& log;
  const run::ApiPort& api;
  Executor& executor;
  /// Null when the launcher keeps boot disks elsewhere: then a replica's boot disk is its own root
  /// directory, "/".
  LocalDisks* disks = nullptr;
  std::vector<const run::ApiPort*> more_apis = {};

  run::ApiPorts apis() const { return {&api, more_apis}; }
};

}  // namespace caip::engine
