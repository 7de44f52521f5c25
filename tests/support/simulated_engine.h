#pragma once
// The simulation's world (src/harness/simulation) under the names of the engine's tests.

#include "harness/simulation/simulated_engine.h"

namespace caip::engine {

using harness::AJob;
using harness::CountedDevices;
using harness::EventQueue;
using harness::FakeStorage;
using harness::kForever;
using harness::kMorning;
using harness::ManualClock;
using harness::MemoryLog;
using harness::MemoryStore;
using harness::NumberedAddresses;
using harness::Script;
using harness::ScriptedLauncher;
using harness::SimulatedEngine;

}  // namespace caip::engine
