#include "harness/simulation/simulation.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>

namespace caip::harness {
namespace {

constexpr uint64_t kTenths = 10;

/// Threads that take seeds in order, so that all seeds below a failed one run, too.
class SeedWorkers {
 public:
  explicit SeedWorkers(const SimulationOptions& options)
      : options_(options), next_(options.seeds.first) {}

  SimulationResult Run() {
    const uint64_t seeds = options_.seeds.last - options_.seeds.first + 1;
    const auto wanted = static_cast<uint64_t>(std::max(1, options_.threads));
    const uint64_t threads = options_.run.keep_journal ? 1 : std::min(wanted, seeds);
    std::vector<std::thread> others;
    for (uint64_t i = 1; i < threads; ++i) others.emplace_back([this] { Work(); });
    Work();
    for (std::thread& other : others) other.join();
    return std::move(result_);
  }

 private:
  void Work() {
    Tally mine;
    while (const std::optional<uint64_t> seed = Claim()) {
      SeedResult outcome = RunSeed(*seed, options_.run);
      mine += outcome.tally;
      if (!outcome.broken.empty()) Fail(*seed);
      if (options_.run.keep_journal) Append(std::move(outcome.journal));
      Progress(outcome.tally.jobs);
    }
    const std::lock_guard lock(mutex_);
    result_.tally += mine;
  }

  std::optional<uint64_t> Claim() {
    const std::lock_guard lock(mutex_);
    if (next_ > options_.seeds.last || result_.failed || result_.interrupted) return std::nullopt;
    result_.interrupted = options_.interrupted();
    if (result_.interrupted) return std::nullopt;
    return next_++;
  }

  void Fail(uint64_t seed) {
    RandomRunOptions again = options_.run;
    again.keep_journal = true;
    SeedResult outcome = RunSeed(seed, again);
    const std::lock_guard lock(mutex_);
    if (result_.failed && result_.failed->seed < seed) return;
    result_.failed = FailedSeed{seed, std::move(outcome.broken), std::move(outcome.journal)};
  }

  void Append(std::vector<std::string> journal) {
    const std::lock_guard lock(mutex_);
    std::move(journal.begin(), journal.end(), std::back_inserter(result_.journal));
  }

  void Progress(uint64_t jobs) {
    const std::lock_guard lock(mutex_);
    ++seeds_done_;
    jobs_done_ += jobs;
    const uint64_t all = options_.seeds.last - options_.seeds.first + 1;
    const bool is_tenth = seeds_done_ * kTenths / all != (seeds_done_ - 1) * kTenths / all;
    if (options_.progress && is_tenth) options_.progress(seeds_done_, jobs_done_);
  }

  const SimulationOptions& options_;
  std::mutex mutex_;
  uint64_t next_;
  uint64_t seeds_done_ = 0;
  uint64_t jobs_done_ = 0;
  SimulationResult result_;
};

}  // namespace

SeedRange SeedsFor(uint64_t first, uint64_t jobs) {
  SeedRange range{first, first};
  for (auto have = static_cast<uint64_t>(JobsOf(first)); have < jobs;) {
    have += static_cast<uint64_t>(JobsOf(++range.last));
  }
  return range;
}

SimulationResult Simulate(const SimulationOptions& options) { return SeedWorkers(options).Run(); }

namespace {

constexpr size_t kJournalLinesShown = 25;

std::string Counted(uint64_t count, const char* what) { return std::to_string(count) + " " + what; }

}  // namespace

std::string TallyText(const Tally& tally) {
  std::string text = Counted(tally.seeds, "seeds, ") + Counted(tally.jobs, "jobs, ") +
                     Counted(tally.events, "events, ") + Counted(tally.saves, "saves, ") +
                     Counted(tally.launches, "launches\n");
  text += "  ended: ";
  for (const auto& [state, count] : tally.ends) {
    text += std::to_string(count) + " " + std::string(run::Name(state)) + ", ";
  }
  text += Counted(tally.refused, "refused\n");
  text += "  met: " + Counted(tally.restarts, "restarts, ") + Counted(tally.retries, "retries, ") +
          Counted(tally.cancels, "cancels, ");
  text += Counted(tally.machines_lost[0], "machines killed, ") +
          Counted(tally.machines_lost[1], "crashed, ") +
          Counted(tally.machines_lost[2], "in maintenance, ");
  return text + Counted(tally.kills_of_the_emulator, "killed emulators, ") +
         Counted(tally.refused_saves, "refused saves\n") +
         "  tuned: " + Counted(tally.trials, "trials, ") + Counted(tally.reports, "reports\n");
}

std::string FailureText(const FailedSeed& failed) {
  const std::string seed = std::to_string(failed.seed);
  std::string text = "seed " + seed + " breaks an invariant\n";
  for (const Violation& broken : failed.broken) {
    text += "  " + broken.invariant + "\n    found " + broken.found + "\n";
  }
  const size_t lines = failed.journal.size();
  const size_t shown = std::min(lines, kJournalLinesShown);
  text += "  the last " + std::to_string(shown) + " of " + std::to_string(lines) +
          " lines of its journal:\n";
  for (size_t i = lines - shown; i < lines; ++i) text += "    " + failed.journal[i] + "\n";
  return text + "  again: caip simulate --seed " + seed + " --journal\n";
}

}  // namespace caip::harness
