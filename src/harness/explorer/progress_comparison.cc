#include "harness/explorer/progress_comparison.h"

#include <algorithm>
#include <utility>

namespace caip::harness {
namespace {

constexpr char kIgnoredCheckpoint[] = "a complete checkpoint is ignored: ";
constexpr char kAllLost[] = "all progress is lost after ";
constexpr char kNothingUsed[] = "no restart uses what was saved: each one begins at the first step";

const StepEvent* FindStepOf(const Event& event, const std::string& replica) {
  return event.replica == replica ? event.As<StepEvent>() : nullptr;
}

std::optional<int64_t> FindFirstStep(const Evidence& run, const std::string& replica) {
  for (const Event& event : run.events) {
    if (const StepEvent* step = FindStepOf(event, replica)) return step->step;
  }
  return std::nullopt;
}

Flaw LostProgressFlaw(std::string cause, int64_t expected, int64_t found) {
  const std::string words = "resumes at step ";
  Flaw flaw{std::move(cause), words + std::to_string(expected), words + std::to_string(found)};
  flaw.kind = Flaw::Kind::kLostProgress;
  flaw.resume_step = expected;
  return flaw;
}

// A save often writes under another name and ends with a rename.
bool EndsASave(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  const bool renames = operation && operation->op == "rename" && !operation->failed;
  return renames || IsWrite(event);
}

// Whether a save was complete before the point: the replica did another step after it. What it
// writes before its first step may be a configuration.
bool FollowsASave(const std::vector<Event>& events, const CrashPoint& point) {
  bool reported = false;
  bool saved = false;
  for (size_t i = 0; i < std::min(point.events, events.size()); ++i) {
    if (events[i].replica != point.replica) continue;
    const bool is_step = events[i].Is<StepEvent>();
    if (saved && is_step) return true;
    saved = saved || (reported && EndsASave(events[i]));
    reported = reported || is_step;
  }
  return false;
}

bool FollowsAWrite(const std::vector<Event>& events, const CrashPoint& point) {
  const auto end = events.begin() + static_cast<ptrdiff_t>(std::min(point.events, events.size()));
  return std::any_of(events.begin(), end, [&point](const Event& event) {
    return event.replica == point.replica && EndsASave(event);
  });
}

// Whether the replica reports the step again after others, such as the first one of each epoch.
// Then the step does not show where a restart resumed.
bool ComesBackTo(const Evidence& run, const std::string& replica, int64_t step) {
  bool is_past = false;
  for (const Event& event : run.events) {
    const StepEvent* found = FindStepOf(event, replica);
    if (!found) continue;
    if (is_past && found->step == step) return true;
    is_past = is_past || found->step != step;
  }
  return false;
}

int64_t CountStepsAfter(const std::vector<Event>& events, const CrashPoint& point) {
  const auto begin = events.begin() + static_cast<ptrdiff_t>(std::min(point.events, events.size()));
  return std::count_if(begin, events.end(), [&point](const Event& event) {
    return FindStepOf(event, point.replica) != nullptr;
  });
}

// Of restarts after a complete save, the last one after which a trainer that loads it has a step to
// report: two are left, because the step before the save may not be reported yet.
std::optional<size_t> ChooseToShow(const std::vector<Event>& events,
                                   const std::vector<Resumption>& all, std::vector<size_t> some) {
  std::erase_if(some, [&](size_t i) { return !FollowsASave(events, all[i].point); });
  if (some.empty()) return std::nullopt;
  std::ranges::stable_sort(some, {}, [&](size_t i) { return all[i].point.events; });
  const auto last = std::find_if(some.rbegin(), some.rend(), [&](size_t i) {
    return CountStepsAfter(events, all[i].point) >= 2;
  });
  return last == some.rend() ? some.front() : *last;
}

Flaw NothingUsedFlaw(int64_t first) {
  Flaw flaw{kNothingUsed, "a step after " + std::to_string(first), "step " + std::to_string(first)};
  flaw.kind = Flaw::Kind::kLostProgress;
  flaw.resume_step = first + 1;
  flaw.may_resume_later = true;
  return flaw;
}

// Finds replicas whose restarts all began at the very first step, also one after a complete save.
// Restarts after which no step was left do not count.
std::map<size_t, Flaw> FindRestartsFromScratch(const Baseline& baseline,
                                               const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> lost;
  if (!baseline.steps_are_stable()) return lost;
  for (const std::string& replica : baseline.replicas()) {
    const auto first = FindFirstStep(baseline.run(), replica);
    if (!first || ComesBackTo(baseline.run(), replica, *first)) continue;
    std::vector<size_t> from_scratch;
    size_t taken_up = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const CrashPoint& point = all[i].point;
      if (point.replica != replica || !all[i].first_step) continue;
      if (!FollowsAWrite(baseline.run().events, point)) continue;
      (*all[i].first_step == *first ? from_scratch.push_back(i) : void(++taken_up));
    }
    if (taken_up > 0 || from_scratch.size() < 3) continue;
    const auto shown = ChooseToShow(baseline.run().events, all, from_scratch);
    if (shown) lost[*shown] = NothingUsedFlaw(*first);
  }
  return lost;
}

// The storage points of one replica, in the order of the run.
std::vector<size_t> FindStoragePoints(const std::vector<Resumption>& all,
                                      const std::string& replica) {
  std::vector<size_t> points;
  for (size_t i = 0; i < all.size(); ++i) {
    const CrashPoint& point = all[i].point;
    const bool counts = point.kind == CrashPoint::Kind::kStorage && all[i].first_step.has_value();
    if (counts && point.replica == replica) points.push_back(i);
  }
  std::ranges::stable_sort(points, {}, [&](size_t i) { return all[i].point.events; });
  return points;
}

// A step that the baseline repeats (for example, in each epoch) does not show where a restart
// resumed.
bool ComesOnce(const Evidence& run, const std::string& replica, int64_t step) {
  const auto is_it = [&](const Event& event) {
    const StepEvent* found = FindStepOf(event, replica);
    return found && found->step == step;
  };
  return std::ranges::count_if(run.events, is_it) == 1;
}

/// A restart after the last write before a step. `advanced`: the restart continued with the next
/// step.
struct ProgressSample {
  size_t resumption;
  int64_t step;  // the last step before the write
  bool advanced;
};

// The last step before the point. nullopt if the save continues before the replica's next step.
std::optional<int64_t> FindSavedStep(const std::vector<Event>& events, const CrashPoint& point) {
  for (size_t at = point.events; at < events.size(); ++at) {
    if (FindStepOf(events[at], point.replica)) break;
    if (EndsASave(events[at]) && events[at].replica == point.replica) return std::nullopt;
  }
  std::optional<int64_t> step;
  for (size_t at = 0; at < point.events; ++at) {
    if (const StepEvent* found = FindStepOf(events[at], point.replica)) step = found->step;
  }
  return step && *step != 0 ? step : std::nullopt;
}

// Groups the samples by the pattern of the written object.
std::map<std::string, std::vector<ProgressSample>> CollectSamples(
    const Baseline& baseline, const std::vector<Resumption>& all) {
  std::map<std::string, std::vector<ProgressSample>> samples;
  for (size_t i = 0; i < all.size(); ++i) {
    const CrashPoint& point = all[i].point;
    if (point.kind != CrashPoint::Kind::kStorage || point.before || !all[i].first_step) continue;
    if (point.op == "delete" || point.op == "read" || point.op == "list") continue;
    const auto step = FindSavedStep(baseline.run().events, point);
    if (!step) continue;
    samples[WithoutNumbers(TextOf(point))].push_back({i, *step, *all[i].first_step == *step + 1});
  }
  return samples;
}

}  // namespace

std::map<size_t, Flaw> FindLostProgress(const Baseline& baseline,
                                        const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> lost = FindRestartsFromScratch(baseline, all);
  for (const auto& [pattern, samples] : CollectSamples(baseline, all)) {
    const auto advanced = std::count_if(samples.begin(), samples.end(),
                                        [](const ProgressSample& one) { return one.advanced; });
    if (samples.size() < 3 || 2 * advanced < static_cast<int64_t>(samples.size())) continue;
    for (const ProgressSample& sample : samples) {
      const int64_t first = *all[sample.resumption].first_step;
      if (sample.advanced || first > sample.step) continue;
      lost[sample.resumption] =
          LostProgressFlaw(kIgnoredCheckpoint + pattern, sample.step + 1, first);
    }
  }
  return lost;
}

std::map<size_t, Flaw> FindFallbacks(const Baseline& baseline, const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> fallen;
  if (!baseline.steps_are_stable()) return fallen;
  for (const std::string& replica : baseline.replicas()) {
    const auto first = FindFirstStep(baseline.run(), replica);
    if (!first || !ComesOnce(baseline.run(), replica, *first)) continue;
    std::optional<int64_t> before;  // the step at which the last restart that resumed did so
    std::vector<size_t> suspects;
    for (const size_t i : FindStoragePoints(all, replica)) {
      const CrashPoint& point = all[i].point;
      if (*all[i].first_step == *first) {
        const bool changed = !point.before || point.mid.has_value();
        if (before && changed) suspects.push_back(i);
        continue;
      }
      for (const size_t suspect : suspects) {
        const CrashPoint& bad = all[suspect].point;
        fallen[suspect] = LostProgressFlaw(kAllLost + bad.op + " " + WithoutNumbers(TextOf(bad)),
                                           *before, *first);
      }
      suspects.clear();
      before = all[i].first_step;
    }
  }
  return fallen;
}

}  // namespace caip::harness
