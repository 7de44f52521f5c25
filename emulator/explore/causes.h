#pragma once
// What an exploration found, grouped by what is wrong.

#include <optional>
#include <string>
#include <vector>

#include "emulator/explore/exploring.h"
#include "emulator/explore/exploring_tasks.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

/// A restart that was tried, and what was wrong behind it.
struct Shown {
  ExploreTask task;  // without buckets
  ExploreOutcome outcome;
};

/// What shows one cause: the finding, and all restarts that show it, the surest first.
struct Cause {
  ExploreFinding finding;
  std::vector<Shown> shown;
};

/// Adds to `outcomes` (of `tasks`; nullopt: not tried) what only shows when they are held against
/// each other. What shows at moments that were not tried, for others lead to the same, is returned.
std::vector<Shown> CompareTogether(const harness::Baseline& baseline, const TaskList& tasks,
                                   std::vector<std::optional<ExploreOutcome>>& outcomes);

/// By their first flaws: the others of a recovery follow from it, most likely. Sure ones come
/// first, then the earliest.
std::vector<Cause> CausesOf(const TaskList& tasks,
                            const std::vector<std::optional<ExploreOutcome>>& outcomes,
                            const std::vector<Shown>& more);

/// The same restart again shows the same.
bool ShowsAgain(const harness::Baseline& baseline, const Shown& shown, const harness::Flaw& wanted,
                const harness::Evidence& again);

}  // namespace caip::explore
