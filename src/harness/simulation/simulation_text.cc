// The words of a simulation's outcome.

#include <algorithm>

#include "harness/simulation/simulation.h"

namespace caip::harness {
namespace {

constexpr size_t kSimulationTextLastLines = 25;

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
  text += Counted(tally.refused, "refused at the door\n");
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
  for (const Broken& broken : failed.broken) {
    text += "  " + broken.invariant + "\n    seen " + broken.saw + "\n";
  }
  const size_t lines = failed.journal.size();
  const size_t shown = std::min(lines, kSimulationTextLastLines);
  text += "  the last " + std::to_string(shown) + " of " + std::to_string(lines) +
          " lines of its journal:\n";
  for (size_t i = lines - shown; i < lines; ++i) text += "    " + failed.journal[i] + "\n";
  return text + "  again: caip simulate --seed " + seed + " --journal\n";
}

}  // namespace caip::harness
