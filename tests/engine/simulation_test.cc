// Random jobs, faults, cancels and killed emulators, by seed; what must always hold is checked at
// every saved state, every start and every moment (src/harness/simulation).

#include "harness/simulation/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uint64_t kSeeds = 1000;

SimulationResult Simulated(SeedRange seeds, int threads = 1, RandomRunOptions run = {}) {
  SimulationOptions options;
  options.seeds = seeds;
  options.threads = threads;
  options.run = std::move(run);
  return Simulate(options);
}

RandomRunOptions WithJournal() {
  RandomRunOptions options;
  options.keep_journal = true;
  return options;
}

TEST(Simulation, NoSeedBreaksAnInvariant) {
  const SimulationResult result = Simulated({1, kSeeds});
  ASSERT_FALSE(result.failed) << FailureText(*result.failed);
  const Tally& tally = result.tally;
  const auto ended = [&](run::JobState state) {
    const auto found = tally.ends.find(state);
    return found == tally.ends.end() ? 0 : found->second;
  };
  // A simulation in which little happens proves little.
  EXPECT_GT(ended(run::JobState::kSucceeded), 300u);
  EXPECT_GT(ended(run::JobState::kFailed), 300u);
  EXPECT_GT(ended(run::JobState::kCancelled), 300u);
  EXPECT_GT(tally.retries, 300u);
  EXPECT_GT(tally.restarts, 300u);
  EXPECT_GT(tally.kills_of_the_emulator, 500u);
  EXPECT_GT(tally.refused_saves, 300u);
  for (uint64_t lost : tally.machines_lost) EXPECT_GT(lost, 100u);
}

TEST(Simulation, EveryJobIsRefusedOrHasEnded) {
  const Tally tally = Simulated({1, 300}).tally;
  EXPECT_EQ(tally.seeds, 300u);
  uint64_t jobs = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) jobs += static_cast<uint64_t>(JobsOf(seed));
  EXPECT_EQ(tally.jobs, jobs);
  uint64_t ended = 0;
  for (const auto& [state, count] : tally.ends) {
    EXPECT_TRUE(run::IsTerminal(state)) << run::Name(state);
    ended += count;
  }
  EXPECT_EQ(tally.refused + ended, tally.jobs);
  EXPECT_GT(tally.refused, 0u);
}

TEST(Simulation, MoreThreadsDoNotChangeWhatHappens) {
  EXPECT_EQ(Simulated({1, 200}, 1).tally, Simulated({1, 200}, 3).tally);
}

TEST(Simulation, TheSameSeedGivesTheSameJournal) {
  int told = 0;  // of a life in which nobody got in there is nothing to tell
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const SeedResult one = RunSeed(seed, WithJournal());
    const SeedResult other = RunSeed(seed, WithJournal());
    told += !one.journal.empty();
    ASSERT_EQ(one.journal, other.journal) << "seed " << seed;
    ASSERT_EQ(one.tally, other.tally);
  }
  EXPECT_GT(told, 25);
}

TEST(Simulation, AJournalChangesNothing) {
  EXPECT_EQ(RunSeed(7, WithJournal()).tally, RunSeed(7).tally);
  EXPECT_TRUE(RunSeed(7).journal.empty());
}

TEST(Simulation, AnotherSeedGivesAnotherJournal) {
  EXPECT_NE(RunSeed(1, WithJournal()).journal, RunSeed(2, WithJournal()).journal);
}

TEST(Simulation, SeedsAreTakenUntilThereAreEnoughJobs) {
  const SeedRange range = SeedsFor(5, 1000);
  EXPECT_EQ(range.first, 5u);
  uint64_t jobs = 0;
  for (uint64_t seed = range.first; seed < range.last; ++seed) {
    jobs += static_cast<uint64_t>(JobsOf(seed));
  }
  EXPECT_LT(jobs, 1000u);
  EXPECT_GE(jobs + static_cast<uint64_t>(JobsOf(range.last)), 1000u);
}

TEST(Simulation, EndsEarlyWhenInterrupted) {
  SimulationOptions options;
  options.seeds = {1, 100'000'000};
  options.threads = 2;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 20; };
  const SimulationResult result = Simulate(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.tally.seeds, 20u);
}

TEST(Simulation, TellsOfEveryTenth) {
  SimulationOptions options;
  options.seeds = {1, 50};
  std::vector<uint64_t> told;
  options.progress = [&](uint64_t seeds, uint64_t) { told.push_back(seeds); };
  const SimulationResult result = Simulate(options);
  EXPECT_EQ(told, (std::vector<uint64_t>{5, 10, 15, 20, 25, 30, 35, 40, 45, 50}));
}

// ---- what is broken is found -----------------------------------------------------------------

std::vector<std::string> Names(const std::vector<Violation>& broken) {
  std::vector<std::string> names;
  for (const Violation& one : broken) names.push_back(one.invariant);
  return names;
}

// A host that takes a run's devices away when it starts the first replica with them.
void DevicesGetLost(SimulatedEngine& world) {
  world.launcher.script = [&world, script = world.launcher.script](const auto& launch) {
    world.devices.Release(launch.key.run);
    return script(launch);
  };
}

TEST(Simulation, WhatBreaksIsFoundAndItsSeedTellsAgain) {
  const SimulationResult result = Simulated({1, 500}, 2, {.spoil = DevicesGetLost});
  ASSERT_TRUE(result.failed);
  const FailedSeed& failed = *result.failed;
  EXPECT_THAT(Names(failed.broken), Contains("devices and addresses are lent together"));
  // What the printed command does: the same seed, and nothing else.
  const SimulationResult again =
      Simulated({failed.seed, failed.seed}, 1, {.keep_journal = true, .spoil = DevicesGetLost});
  ASSERT_TRUE(again.failed);
  EXPECT_EQ(again.failed->broken, failed.broken);
  EXPECT_EQ(again.journal, failed.journal);

  const std::string text = FailureText(failed);
  EXPECT_THAT(text, HasSubstr(failed.broken[0].invariant));
  EXPECT_THAT(text, HasSubstr(failed.broken[0].found));
  EXPECT_THAT(text, HasSubstr(failed.journal.back()));
  EXPECT_THAT(text,
              HasSubstr("caip simulate --seed " + std::to_string(failed.seed) + " --journal\n"));
}

TEST(Simulation, TheLowestSeedIsReported) {
  // Only a second emulator breaks here, so that the first seeds pass.
  const auto renamed = [](SimulatedEngine& world) {
    world.launcher.script = [&world, script = world.launcher.script](const auto& launch) {
      world.options.rules.launch.host.endpoint = "http://elsewhere";  // of the next emulator
      return script(launch);
    };
  };
  const auto one = Simulated({1, 500}, 1, {.spoil = renamed}).failed;
  ASSERT_TRUE(one);
  EXPECT_THAT(Names(one->broken), Contains("the same environment at every start"));
  const auto three = Simulated({1, 500}, 3, {.spoil = renamed}).failed;
  ASSERT_TRUE(three);
  EXPECT_EQ(one->seed, three->seed);
}

TEST(Simulation, ReplicasThatCannotBeKilledAreFound) {
  const auto deaf = [](SimulatedEngine& world) {
    world.after_step = [&world] { world.events.Clear(); };
  };
  const SimulationResult result = Simulated({1, 200}, 1, {.spoil = deaf});
  ASSERT_TRUE(result.failed);
  EXPECT_THAT(Names(result.failed->broken), Contains("every job ends"));
}

TEST(Simulation, ALifeWithoutAnEndIsFound) {
  const auto full_for_ever = [](SimulatedEngine& world) {
    world.store.refuse = [saves = 0]() mutable -> std::optional<Error> {
      if (++saves < 3) return std::nullopt;
      return Error{Code::kResourceExhausted, "disk full"};
    };
  };
  const SimulationResult result = Simulated({1, 3}, 1, {.spoil = full_for_ever});
  ASSERT_TRUE(result.failed);
  EXPECT_THAT(Names(result.failed->broken), Contains("every run ends"));
}

}  // namespace
}  // namespace caip::harness
