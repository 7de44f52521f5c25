#pragma once
// Groups the flaws that an exploration found by their causes.

#include <optional>
#include <string>
#include <vector>

#include "emulator/explore/exploring.h"
#include "emulator/explore/task_list.h"
#include "emulator/explore/task_queue.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

/// A restart that was tried, and the flaws after it.
struct TriedRestart {
  ExploreTask task;  // without buckets
  ExploreOutcome outcome;
};

/// A cause, and the restarts that show it, the surest first.
struct Cause {
  ExploreFinding finding;
  std::vector<TriedRestart> shown_by;
};

/// The flaws of one run. Leaves out, or doubts, what follows from the kind of interruption alone.
std::vector<harness::Flaw> FlawsOf(const harness::Baseline& baseline, const ExploreTask& task,
                                   const harness::Evidence& run);

/// What a run of the task shows.
ExploreOutcome OutcomeOf(const harness::Baseline& baseline, const ExploreTask& task,
                         const harness::Evidence& run, bool drift_is_sure);

/// Adds to `outcomes` the flaws that only a comparison of recoveries with each other shows. An
/// outcome belongs to the task of its index; nullopt: not tried. Returns the flaws at crash points
/// that were not tried because an earlier one has the same recovery.
std::vector<TriedRestart> CompareTogether(const harness::Baseline& baseline, const TaskList& tasks,
                                          std::vector<std::optional<ExploreOutcome>>& outcomes);

/// Groups restarts by their first flaw, because the others of a recovery most likely follow from
/// it. Causes that are sure come first, then the earliest.
std::vector<Cause> FindCauses(const TaskList& tasks,
                              const std::vector<std::optional<ExploreOutcome>>& outcomes,
                              const std::vector<TriedRestart>& more);

/// The task without the state with which it begins, for whole runs.
ExploreTask WithoutBuckets(const ExploreTask& task);

/// Makes the restart the one that the finding shows.
void ShowBy(const TriedRestart& shown, ExploreFinding& finding);

/// Whether a repetition of the restart shows the same flaw.
bool ShowsAgain(const harness::Baseline& baseline, const TriedRestart& shown,
                const harness::Flaw& wanted, const harness::Evidence& again);

/// Tells each finding how many tasks were left out for its cause, or for one that appeared together
/// with it. A task counts for one finding.
void AddLeftOut(const std::vector<LeftOutKind>& left_out, std::vector<Cause>& causes);

/// Sorts causes: the sure ones first, then by their rank, then the earliest. A job that can never
/// succeed again comes before one that fails once.
void OrderByWorth(std::vector<Cause>& causes);

}  // namespace caip::explore
