// The words of a simulation's outcome.

#include <algorithm>

#include "harness/simulation/simulation.h"

namespace caip::harness {
namespace {

constexpr size_t kLastLines = 25;

std::string Count(uint64_t count, const char* what) { return std::to_string(count) + " " + what; }

}  // namespace

std::string TallyText(const Tally& tally) {
  std::string text = Count(tally.seeds, "seeds, ") + Count(tally.jobs, "jobs, ") +
                     Count(tally.events, "events, ") + Count(tally.saves, "saves, ") +
                     Count(tally.launches, "launches\n");
  text += "  ended: ";
  for (const auto& [state, count] : tally.ends) {
    text += std::to_string(count) + " " + std::string(run::Name(state)) + ", ";
  }
  text += Count(tally.refused, "refused at the door\n");
  text += "  met: " + Count(tally.restarts, "restarts, ") + Count(tally.retries, "retries, ") +
          Count(tally.cancels, "cancels, ");
  text += Count(tally.machines_lost[0], "machines killed, ") +
          Count(tally.machines_lost[1], "crashed, ") +
          Count(tally.machines_lost[2], "in maintenance, ");
  return text + Count(tally.kills_of_the_emulator, "killed emulators, ") +
         Count(tally.refused_saves, "refused saves\n") +
         "  tuned: " + Count(tally.trials, "trials, ") + Count(tally.reports, "reports\n");
}

std::string FailureText(const FailedSeed& failed) {
  const std::string seed = std::to_string(failed.seed);
  std::string text = "seed " + seed + " breaks an invariant\n";
  for (const Broken& broken : failed.broken) {
    text += "  " + broken.invariant + "\n    seen " + broken.saw + "\n";
  }
  const size_t lines = failed.journal.size();
  const size_t shown = std::min(lines, kLastLines);
  text += "  the last " + std::to_string(shown) + " of " + std::to_string(lines) +
          " lines of its journal:\n";
  for (size_t i = lines - shown; i < lines; ++i) text += "    " + failed.journal[i] + "\n";
  return text + "  again: caip simulate --seed " + seed + " --journal\n";
}

}  // namespace caip::harness
