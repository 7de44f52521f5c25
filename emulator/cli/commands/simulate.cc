// `caip simulate`.

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "base/time_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "harness/simulation/simulation.h"

namespace caip::cli {
namespace {

constexpr uint64_t kSeedsDefault = 2000;

harness::SeedRange RangeOf(const SimulateCommand& command) {
  const auto seed = [](int64_t number) { return static_cast<uint64_t>(number); };
  if (command.seed) return {seed(*command.seed), seed(*command.seed)};
  if (command.seeds) return {seed(command.seeds->first), seed(command.seeds->second)};
  if (command.jobs) return harness::SeedsFor(1, seed(*command.jobs));
  return {1, kSeedsDefault};
}

harness::SimulationOptions OptionsFor(const SimulateCommand& command, const Io& io,
                                      const app::InterruptGuard& guard) {
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  harness::SimulationOptions options;
  options.seeds = RangeOf(command);
  options.threads = static_cast<int>(std::min<int64_t>(command.threads.value_or(cores), 1024));
  options.run.keep_journal = command.journal;
  options.interrupted = [&guard] { return guard.interrupted(); };
  const uint64_t seeds = options.seeds.last - options.seeds.first + 1;
  if (seeds == 1) return options;
  options.progress = [&io, seeds](uint64_t seeds_done, uint64_t jobs_done) {
    io.err(std::to_string(seeds_done) + " of " + std::to_string(seeds) + " seeds, " +
           std::to_string(jobs_done) + " jobs\n");
  };
  return options;
}

std::string SpeedText(const harness::Tally& tally, Duration took) {
  const double seconds = std::max(std::chrono::duration<double>(took).count(), 1e-6);
  char text[160];
  std::snprintf(text, sizeof text, "  in %s: %.0f jobs and %.0f events a second\n",
                HumanDuration(took).c_str(), static_cast<double>(tally.jobs) / seconds,
                static_cast<double>(tally.events) / seconds);
  return text;
}

}  // namespace

int RunSimulate(const SimulateCommand& command, const Surroundings& world) {
  const SystemClock clock;
  const Instant begun = clock.Now();
  harness::SimulationResult result;
  {
    const app::InterruptGuard guard;
    result = harness::Simulate(OptionsFor(command, world.io, guard));
  }
  for (const std::string& line : result.journal) world.io.out(line + "\n");
  world.io.out(harness::TallyText(result.tally) + SpeedText(result.tally, clock.Now() - begun));
  if (result.failed) {
    world.io.out(harness::FailureText(*result.failed));
    return kExitFailure;
  }
  if (result.interrupted) {
    world.io.out("interrupted; all invariants held until then\n");
    return kExitInterrupted;
  }
  world.io.out("all invariants held\n");
  return kExitSuccess;
}

}  // namespace caip::cli
