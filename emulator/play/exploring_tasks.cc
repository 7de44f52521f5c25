#include "emulator/play/exploring_tasks.h"

#include <algorithm>
#include <utility>

namespace caip::play {
namespace {

using harness::CrashPoint;
using harness::Evidence;
using harness::Happening;

Happening EndOfMachine(const CrashPoint& point, int boot) {
  Happening exit;
  exit.kind = Happening::Kind::kExit;
  exit.replica = point.replica;
  exit.boot = boot;
  exit.signal = 9;
  exit.detail = "kill";
  return exit;
}

}  // namespace

harness::Scenario InPeace(harness::Scenario scenario) {
  scenario.faults.clear();
  scenario.expectations.clear();
  scenario.shows_bug.clear();
  scenario.mood.vm_lifetime.reset();
  return scenario;
}

Evidence Joined(const ExploreTask& task, Evidence recovery) {
  int boots = 0;
  std::vector<Happening> all = task.prefix;
  for (const Happening& h : all) boots = std::max(boots, h.boot);
  all.push_back(EndOfMachine(task.second.value_or(task.point), boots));
  for (Happening& h : recovery.happenings) {
    if (h.replica.empty() || h.replica == "service") continue;
    h.boot += boots;
    all.push_back(std::move(h));
  }
  int64_t number = 0;
  for (Happening& h : all) h.number = ++number;
  recovery.happenings = std::move(all);
  return recovery;
}

std::optional<int64_t> FirstStep(const Evidence& run, size_t behind, const std::string& replica) {
  int boot = 0;
  for (size_t i = 0; i < run.happenings.size(); ++i) {
    const Happening& h = run.happenings[i];
    if (h.replica != replica) continue;
    if (i >= behind && h.kind == Happening::Kind::kStart) boot = h.boot;
    if (boot > 0 && h.kind == Happening::Kind::kStep && h.boot >= boot) return h.step;
  }
  return std::nullopt;
}

size_t CountOfReplicas(const Evidence& run, size_t first) {
  size_t count = 0;
  for (size_t i = 0; i < std::min(first, run.happenings.size()); ++i) {
    const Happening& h = run.happenings[i];
    if (!h.replica.empty() && h.replica != "service") ++count;
  }
  return count;
}

}  // namespace caip::play
