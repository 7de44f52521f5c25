#include "emulator/explore/resumption.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace caip::explore {
namespace {

using harness::Event;
using harness::Evidence;

constexpr size_t kReadsShown = 4;

// The boot of the replica that starts after so many events; 0 for none.
int BootAfter(const Evidence& run, size_t after, const std::string& replica) {
  for (size_t i = after; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    if (event.replica == replica && event.Is<harness::StartEvent>()) return event.boot;
  }
  return 0;
}

std::string ReadsInWords(const std::vector<std::string>& reads) {
  if (reads.empty()) return "read nothing that the run had stored";
  std::vector<std::string> shown(
      reads.begin(), reads.begin() + static_cast<ptrdiff_t>(std::min(kReadsShown, reads.size())));
  const size_t more = reads.size() - shown.size();
  return "read " + Join(shown, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// What a boot did before its first step.
struct Beginning {
  std::vector<std::string> reads;
  std::vector<std::pair<std::string, size_t>> refused;  // writes, and how often

  void Take(const harness::StorageEvent& storage);
  std::string InWords() const;
};

void Beginning::Take(const harness::StorageEvent& storage) {
  if (storage.op == "read" && !storage.failed) {
    if (std::ranges::find(reads, storage.object) == reads.end()) reads.push_back(storage.object);
    return;
  }
  if (!storage.failed || storage.op == "read" || storage.op == "list") return;
  const std::string what = storage.op + " " + storage.object;
  const auto known = std::ranges::find(refused, what, &std::pair<std::string, size_t>::first);
  known == refused.end() ? void(refused.emplace_back(what, 1)) : void(++known->second);
}

std::string Beginning::InWords() const {
  std::string text = ReadsInWords(reads);
  for (const auto& [what, times] : refused) {
    text += ", was refused to " + what;
    if (times > 1) text += " " + std::to_string(times) + " times";
  }
  return text;
}

// Whether the replica reports each step once, in ascending order, so that the number of a step is
// the progress.
bool StepsAscend(const Evidence& run, const std::string& replica) {
  std::optional<int64_t> last;
  for (const Event& event : run.events) {
    const auto* step = event.replica == replica ? event.As<harness::StepEvent>() : nullptr;
    if (!step) continue;
    if (last && step->step <= *last) return false;
    last = step->step;
  }
  return true;
}

}  // namespace

std::optional<int64_t> FirstStep(const Evidence& run, const harness::CrashPoint& point) {
  int boot = 0;
  for (size_t i = 0; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    if (event.replica != point.replica) continue;
    if (i >= point.events && event.Is<harness::StartEvent>()) boot = event.boot;
    const auto* step = event.As<harness::StepEvent>();
    if (boot > 0 && step && event.boot >= boot) return step->step;
  }
  return std::nullopt;
}

size_t CaughtUpAt(const std::vector<Event>& events, size_t begin, const std::string& replica) {
  std::optional<int64_t> reached;  // before the restart
  bool is_new = false;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].replica != replica) continue;
    const auto* step = events[i].As<harness::StepEvent>();
    if (step && i < begin) reached = std::max(reached.value_or(step->step), step->step);
    if (step && i >= begin) is_new = is_new || !reached || step->step > *reached;
    if (is_new && harness::IsWrite(events[i])) return i;
  }
  return events.size();
}

std::string DescribeResumption(const Evidence& run, const harness::CrashPoint& point) {
  const int boot = BootAfter(run, point.events, point.replica);
  if (boot == 0) return "";
  Beginning beginning;
  const std::string begin = "boot " + std::to_string(boot) + " ";
  for (const Event& event : run.events) {
    if (event.replica != point.replica || event.boot != boot) continue;
    if (const auto* step = event.As<harness::StepEvent>()) {
      return begin + beginning.InWords() + ", then reported step " + std::to_string(step->step);
    }
    if (const auto* storage = event.As<harness::StorageEvent>()) beginning.Take(*storage);
  }
  return begin + beginning.InWords() + " and reported no step";
}

std::optional<harness::Flaw> FindLoss(const harness::Baseline& baseline, const std::string& replica,
                                      std::optional<int64_t> wanted, std::optional<int64_t> found) {
  if (!wanted || !found || *found >= *wanted) return std::nullopt;
  if (!baseline.steps_are_stable() || !StepsAscend(baseline.run(), replica)) return std::nullopt;
  harness::Flaw flaw{"a second restart loses progress that the first one kept",
                     "resumes at step " + std::to_string(*wanted) + " or later",
                     "resumes at step " + std::to_string(*found)};
  flaw.kind = harness::Flaw::Kind::kLostProgress;
  flaw.resume_step = *wanted;
  flaw.may_resume_later = true;
  return flaw;
}

std::optional<harness::Flaw> FindLossOfPair(const harness::Baseline& baseline,
                                            const ExploreTask& task, const Evidence& run) {
  if (!task.second || task.second->replica != task.point.replica) return std::nullopt;
  const TaskPoints points = PointsIn(task, run);
  return FindLoss(baseline, task.point.replica, FirstStep(run, points.first),
                  FirstStep(run, points.last()));
}

}  // namespace caip::explore
