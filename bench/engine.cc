// Measures simulated jobs per second: the whole engine with fake ports, four replicas for each job,
// and lost machines. This is caip's share of a run, without processes and disks.

#include <benchmark/benchmark.h>

#include "harness/simulation/simulated_engine.h"

namespace caip::harness {
namespace {

// Runs the given number of jobs one after the other. One in four loses a machine.
void SimulatedJobs(benchmark::State& state) {
  const auto jobs = static_cast<int>(state.range(0));
  size_t launches = 0;
  for (auto _ : state) {
    SimulatedEngine world;
    world.keep_journal = false;
    world.options.journal = nullptr;
    world.log.keep = false;
    world.launcher.script = [](const engine::ReplicaLaunch& launch) {
      Script script;
      if (launch.key.replica.role != "master") script.run_for = kForever;
      return script;
    };
    world.Boot();
    for (int i = 0; i < jobs; ++i) {
      const std::string id = "j" + std::to_string(i);
      if (!world.Submit(AJob(id)).ok()) state.SkipWithError("not accepted");
      if (i % 4 != 0) continue;
      world.RunUntilState(id, run::JobState::kRunning);
      (void)world.LoseVm(id, {"worker", 0}, engine::VmLoss::kKill);
    }
    world.RunUntilIdle();
    for (const engine::JobRecord& record : world.store.InOrder()) {
      if (record.job.state != run::JobState::kSucceeded) state.SkipWithError("did not succeed");
    }
    launches = world.launcher.launches();
  }
  state.SetItemsProcessed(state.iterations() * jobs);
  state.counters["launches"] = static_cast<double>(launches);
}
BENCHMARK(SimulatedJobs)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace caip::harness

BENCHMARK_MAIN();
