#include "emulator/explore/causes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/explorer/progress_comparison.h"

namespace caip::explore {
namespace {

using harness::Flaw;
using Outcomes = std::vector<std::optional<ExploreOutcome>>;

void AddInFront(std::vector<Flaw>& flaws, Flaw flaw) {
  flaws.insert(flaws.begin(), std::move(flaw));
}

ExploreTask WithoutBuckets(const ExploreTask& task) {
  ExploreTask plain;
  plain.point = task.point;
  plain.second = task.second;
  plain.disk_kept = task.disk_kept;
  return plain;
}

/// Recoveries of one kind of disk, and whose they are.
struct Recoveries {
  std::vector<harness::Resumption> all;
  std::vector<size_t> indices;  // of tasks; of the first of `all`
};

Recoveries RecoveriesOf(const TaskList& tasks, const Outcomes& outcomes, bool disk_kept) {
  Recoveries found;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!outcomes[i] || tasks[i].second || tasks[i].disk_kept != disk_kept) continue;
    found.all.push_back({tasks[i].point, outcomes[i]->first_step});
    found.indices.push_back(i);
  }
  return found;
}

// Moments with the buckets of one that was tried have its recovery.
void AddEquals(const TaskList& tasks, const Outcomes& outcomes, Recoveries& found) {
  std::map<std::string, std::optional<int64_t>> first_steps;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i] && tasks[i].recorded) first_steps[tasks[i].state] = outcomes[i]->first_step;
  }
  for (const EqualMoment& moment : tasks.equals()) {
    const auto first = first_steps.find(moment.state);
    if (first != first_steps.end()) found.all.push_back({moment.point, first->second});
  }
}

}  // namespace

std::vector<Shown> CompareTogether(const harness::Baseline& baseline, const TaskList& tasks,
                                   Outcomes& outcomes) {
  std::vector<Shown> more;
  for (const bool disk_kept : {false, true}) {
    Recoveries found = RecoveriesOf(tasks, outcomes, disk_kept);
    for (auto& [index, flaw] : harness::FindLostProgress(baseline, found.all)) {
      AddInFront(outcomes[found.indices[index]]->flaws, std::move(flaw));
    }
    if (!disk_kept) AddEquals(tasks, outcomes, found);
    for (auto& [index, flaw] : harness::FindFallbacks(baseline, found.all)) {
      if (index < found.indices.size()) {
        AddInFront(outcomes[found.indices[index]]->flaws, std::move(flaw));
        continue;
      }
      ExploreTask task;
      task.point = found.all[index].point;
      more.push_back({std::move(task), {{std::move(flaw)}, found.all[index].first_step}});
    }
  }
  return more;
}

std::vector<Cause> CausesOf(const TaskList& tasks, const Outcomes& outcomes,
                            const std::vector<Shown>& more) {
  std::vector<Shown> all;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i]) all.push_back({WithoutBuckets(tasks[i]), *outcomes[i]});
  }
  all.insert(all.end(), more.begin(), more.end());
  std::map<std::string, Cause> by_cause;
  for (Shown& shown : all) {
    const std::vector<Flaw>& flaws = shown.outcome.flaws;
    if (flaws.empty()) continue;
    Cause& cause = by_cause[flaws.front().cause];
    for (size_t i = 1; i < flaws.size(); ++i) cause.finding.also.insert(flaws[i].cause);
    cause.shown.push_back(std::move(shown));
  }
  std::vector<Cause> causes;
  for (auto& [name, cause] : by_cause) {
    std::ranges::stable_sort(cause.shown, {}, [](const Shown& shown) {
      return !shown.outcome.flaws.front().doubt.empty();
    });
    ExploreFinding& finding = cause.finding;
    finding.flaw = cause.shown.front().outcome.flaws.front();
    finding.point = cause.shown.front().task.point;
    finding.second = cause.shown.front().task.second;
    finding.disk_kept = cause.shown.front().task.disk_kept;
    finding.points = cause.shown.size();
    causes.push_back(std::move(cause));
  }
  std::ranges::stable_sort(causes, {}, [](const Cause& cause) {
    return std::pair(!cause.finding.flaw.doubt.empty(), cause.finding.point.events);
  });
  return causes;
}

bool ShowsAgain(const harness::Baseline& baseline, const Shown& shown, const Flaw& wanted,
                const harness::Evidence& again) {
  const harness::CrashPoint& point = shown.task.point;
  const std::vector<Flaw> flaws =
      harness::CompareRecovery(baseline, shown.task.second.value_or(point), again);
  const auto is_it = [&](const Flaw& flaw) { return flaw.cause == wanted.cause; };
  if (std::ranges::any_of(flaws, is_it)) return true;
  // What shows among all recoveries alone: this one began where it did.
  const bool begins_there =
      FirstStep(again, point.events, point.replica) == shown.outcome.first_step;
  return begins_there && wanted.kind == Flaw::Kind::kLostProgress;
}

}  // namespace caip::explore
