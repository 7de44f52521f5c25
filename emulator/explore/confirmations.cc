#include "emulator/explore/confirmations.h"

#include <algorithm>
#include <utility>

#include "emulator/explore/exploring_tasks.h"

namespace caip::explore {
namespace {

using harness::Evidence;
using harness::Flaw;

constexpr size_t kRepetitions = 3;  // of different restarts that show the same
constexpr char kNotConfirmed[] =
    "it did not appear again when the same restart ran alone: the runs may share a file of this "
    "host, or the flaw depends on timing";

}  // namespace

Confirmations::Repetition Confirmations::Repeat(const std::vector<TriedRestart>& shown_by,
                                                const Flaw& flaw, const WhyOver& why_over) const {
  for (size_t i = 0; i < std::min(kRepetitions, shown_by.size()); ++i) {
    const TriedRestart& restart = shown_by[i];
    if (!restart.outcome.flaws.front().doubt.empty()) break;
    const std::string ended = why_over();
    if (!ended.empty()) return {.obstacle = ended};
    const Result<Evidence> again = run_(restart.task);
    if (!again.ok()) return {.obstacle = again.error().message};
    if (WasMissed(*again) || !ShowsAgain(baseline_, restart, flaw, *again)) continue;
    return {.shown = Repeated{restart, again->once_more}};
  }
  return {};
}

bool Confirmations::IsRefuted(const LeftOutKind& kind, const TaskList& tasks,
                              const std::vector<std::optional<ExploreOutcome>>& outcomes,
                              const WhyOver& why_over) {
  std::vector<TriedRestart> shown_by;
  for (const size_t task : kind.shown_by) {
    if (outcomes[task]) shown_by.push_back({WithoutBuckets(tasks[task]), *outcomes[task]});
  }
  if (shown_by.empty()) return false;
  Repetition repetition = Repeat(shown_by, shown_by.front().outcome.flaws.front(), why_over);
  const bool is_refuted = !repetition.shown && repetition.obstacle.empty();
  if (repetition.shown) shown_.try_emplace(kind.cause, *std::move(repetition.shown));
  return is_refuted;
}

void Confirmations::Confirm(Cause& cause, const WhyOver& why_over) {
  ExploreFinding& finding = cause.finding;
  if (!finding.flaw.doubt.empty()) return;
  const auto known = shown_.find(finding.flaw.cause);
  Repetition repetition = known != shown_.end() ? Repetition{.shown = known->second}
                                                : Repeat(cause.shown_by, finding.flaw, why_over);
  if (repetition.shown) {
    ShowBy(repetition.shown->restart, finding);
    finding.once_more = repetition.shown->once_more;
  } else if (!repetition.obstacle.empty()) {
    finding.remark = "not confirmed by a run of its own: " + repetition.obstacle;
  } else {
    finding.flaw.doubt = kNotConfirmed;
  }
}

}  // namespace caip::explore
