#include "harness/explorer/progress_comparison.h"

#include <algorithm>

namespace caip::harness {
namespace {

constexpr char kGoesOn[] = "goes on with step ";
constexpr char kPassedOver[] = "a whole checkpoint is passed over: ";
constexpr char kAllLost[] = "all progress is lost behind ";
constexpr char kNothing[] =
    "nothing that was written is ever taken up: each restart begins at the start";

std::optional<int64_t> FirstStepOf(const Evidence& run, const std::string& replica) {
  for (const Happening& h : run.happenings) {
    if (h.kind == Happening::Kind::kStep && h.replica == replica) return h.step;
  }
  return std::nullopt;
}

// Whatever was written, each restart began at the very first step again: all but those behind which
// nothing was left to do.
std::map<size_t, Flaw> NothingTakenUp(const Peace& peace, const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> lost;
  if (!peace.steps_are_stable()) return lost;
  for (const std::string& replica : peace.replicas()) {
    const auto first = FirstStepOf(peace.run(), replica);
    std::vector<size_t> from_scratch;
    size_t taken_up = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool wrote = all[i].point.changes > 0 && all[i].point.replica == replica;
      if (!wrote || !all[i].first_step) continue;
      (*all[i].first_step == *first ? from_scratch.push_back(i) : void(++taken_up));
    }
    if (taken_up > 0 || from_scratch.size() < 3) continue;
    const size_t last = from_scratch.back();
    lost[last] = {kNothing, "a step behind " + std::to_string(*first),
                  "step " + std::to_string(*first)};
  }
  return lost;
}

// Of one replica, by the order of the run.
std::vector<size_t> StorageMoments(const std::vector<Resumption>& all, const std::string& replica) {
  std::vector<size_t> moments;
  for (size_t i = 0; i < all.size(); ++i) {
    const CrashPoint& point = all[i].point;
    const bool tells = point.kind == Happening::Kind::kStorage && all[i].first_step.has_value();
    if (tells && point.replica == replica) moments.push_back(i);
  }
  std::ranges::stable_sort(moments, {}, [&](size_t i) { return all[i].point.events; });
  return moments;
}

// Steps that come again in peace (of an epoch, say) do not tell where a restart went on.
bool ComesOnce(const Evidence& run, const std::string& replica, int64_t step) {
  const auto is_it = [&](const Happening& h) {
    return h.kind == Happening::Kind::kStep && h.replica == replica && h.step == step;
  };
  return std::ranges::count_if(run.happenings, is_it) == 1;
}

}  // namespace

std::map<size_t, Flaw> LostProgress(const Peace& peace, const std::vector<Resumption>& all) {
  // The step that was the last when an object like this was written, for the writes that ended a
  // run of writes: what came behind them was the next step.
  struct Sample {
    size_t resumption;
    int64_t step;
    bool advanced;
  };
  std::map<std::string, std::vector<Sample>> by_pattern;
  const std::vector<Happening>& events = peace.run().happenings;
  for (size_t i = 0; i < all.size(); ++i) {
    const CrashPoint& point = all[i].point;
    if (point.kind != Happening::Kind::kStorage || point.before || !all[i].first_step) continue;
    if (point.op == "delete" || point.op == "read" || point.op == "list") continue;
    bool ends = true;  // no further write before the replica's next step
    for (size_t at = point.events; at < events.size() && ends; ++at) {
      if (events[at].kind == Happening::Kind::kStep && events[at].replica == point.replica) break;
      if (IsWrite(events[at]) && events[at].replica == point.replica) ends = false;
    }
    int64_t step = 0;
    for (size_t at = 0; at < point.events; ++at) {
      if (events[at].kind == Happening::Kind::kStep && events[at].replica == point.replica) {
        step = events[at].step;
      }
    }
    if (!ends || step == 0) continue;
    by_pattern[WithoutNumbers(point.text)].push_back({i, step, *all[i].first_step == step + 1});
  }
  std::map<size_t, Flaw> lost = NothingTakenUp(peace, all);
  for (const auto& [pattern, samples] : by_pattern) {
    const auto advanced = std::count_if(samples.begin(), samples.end(),
                                        [](const Sample& sample) { return sample.advanced; });
    if (samples.size() < 3 || 2 * advanced < static_cast<int64_t>(samples.size())) continue;
    for (const Sample& sample : samples) {
      const int64_t first = *all[sample.resumption].first_step;
      if (sample.advanced || first > sample.step) continue;
      lost[sample.resumption] = {kPassedOver + pattern, kGoesOn + std::to_string(sample.step + 1),
                                 kGoesOn + std::to_string(first)};
    }
  }
  return lost;
}

std::map<size_t, Flaw> FallenBack(const Peace& peace, const std::vector<Resumption>& all) {
  std::map<size_t, Flaw> fallen;
  if (!peace.steps_are_stable()) return fallen;
  for (const std::string& replica : peace.replicas()) {
    const auto first = FirstStepOf(peace.run(), replica);
    if (!first || !ComesOnce(peace.run(), replica, *first)) continue;
    std::optional<int64_t> before;  // where the last one that went on did so
    std::vector<size_t> suspects;
    for (const size_t i : StorageMoments(all, replica)) {
      const CrashPoint& point = all[i].point;
      if (*all[i].first_step == *first) {
        const bool changed = !point.before || point.mid_bytes > 0;
        if (before && changed) suspects.push_back(i);
        continue;
      }
      for (const size_t suspect : suspects) {
        const CrashPoint& bad = all[suspect].point;
        fallen[suspect] = {kAllLost + bad.op + " " + WithoutNumbers(bad.text),
                           kGoesOn + std::to_string(*before), kGoesOn + std::to_string(*first)};
      }
      suspects.clear();
      before = all[i].first_step;
    }
  }
  return fallen;
}

std::optional<int64_t> WantedStep(const Flaw& flaw) {
  if (!flaw.expected.starts_with(kGoesOn)) return std::nullopt;
  return std::stoll(flaw.expected.substr(sizeof kGoesOn - 1));
}

bool IsOfProgress(const std::string& cause) {
  return cause.starts_with(kPassedOver) || cause.starts_with(kAllLost) || cause == kNothing;
}

}  // namespace caip::harness
