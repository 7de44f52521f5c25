#include "harness/explorer/unreported_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "harness/expectations/counts.h"
#include "harness/explorer/other_state.h"

namespace caip::harness {
namespace {

constexpr char kUnreportedStep[] =
    "the machine went away between a write and the line that reports this step: the step may have "
    "been done without a report; report a step before it is saved";

/// Finds the steps that a replica did without a report.
class UnreportedSteps {
 public:
  UnreportedSteps(const Baseline& baseline, const std::string& replica, const Evidence& recovery)
      : replica_(replica),
        recovery_(recovery),
        wanted_(NumbersOf(EffectiveSteps(baseline.run(), replica))),
        missing_(Without(wanted_, NumbersOf(EffectiveSteps(recovery, replica)))) {}

  const std::set<int64_t>& missing() const { return missing_; }
  // Whether all missing steps were done without a report. Each restart can lose one.
  bool AreAll() const { return !missing_.empty() && found_ == missing_; }

  // Notes the step on which the replica was working when the machine went away at the point: it had
  // written something after the line of the previous step, or after the restart before (`begin`),
  // and had not printed the step's own line.
  void Note(size_t begin, const CrashPoint& point) {
    bool written = false;
    std::optional<int64_t> reported;
    for (size_t i = 0; i < std::min(point.events, recovery_.events.size()); ++i) {
      const Event& event = recovery_.events[i];
      if (event.replica != replica_) continue;
      const auto* step = event.As<StepEvent>();
      if (step) reported = step->step;
      written = (i >= begin && IsWrite(event)) || (written && !step);
    }
    auto next = reported ? wanted_.upper_bound(*reported) : wanted_.begin();
    while (next != wanted_.end() && found_.contains(*next)) ++next;
    if (written && next != wanted_.end() && missing_.contains(*next)) found_.insert(*next);
  }

 private:
  const std::string& replica_;
  const Evidence& recovery_;
  const std::set<int64_t> wanted_;
  const std::set<int64_t> missing_;
  std::set<int64_t> found_;
};

// Whole numbers may be counters. Other numbers, and bytes that are not JSON, depend on the
// training.
bool HoldsMoreThanCounters(const Json& json) {
  if (json.is_number_float()) return true;
  return json.is_structured() && std::any_of(json.begin(), json.end(), HoldsMoreThanCounters);
}

/// Finds objects that show that a step was done.
class ObjectsOfSteps {
 public:
  /// `restarts`: those in the recovery.
  ObjectsOfSteps(const Baseline& baseline, const std::string& replica, const Evidence& recovery,
                 size_t restarts)
      : baseline_(baseline), replica_(replica), recovery_(recovery), restarts_(restarts) {}

  // Whether an object that depends on the step is the same in the recovery: a later one, or the
  // save of the last step, after which a trainer that saves before each line writes nothing.
  bool Show(int64_t step) const {
    return LaterOneIsSame(step) || (IsLast(step) && SaveOfLastStepIsSame());
  }

 private:
  bool LaterOneIsSame(int64_t step) const {
    bool after = false;
    ObjectAges ages;
    for (const Event& event : baseline_.run().events) {
      const auto* line = event.As<StepEvent>();
      after = after || (line && event.replica == replica_ && line->step == step);
      const std::vector<std::string> names = ages.Take(event);
      if (after && std::ranges::any_of(names, [&](const auto& name) { return Tells(name); })) {
        return true;
      }
    }
    return false;
  }

  // Only if there is an object like it before the line of each step. A single step has no pattern.
  bool SaveOfLastStepIsSame() const {
    std::map<std::string, size_t> saves;  // by pattern: the steps with such an object
    std::set<std::string> names;          // written since the line before
    std::set<std::string> of_last;
    size_t steps = 0;
    ObjectAges ages;
    for (const Event& event : baseline_.run().events) {
      for (std::string& name : ages.Take(event)) {
        if (event.replica == replica_) names.insert(std::move(name));
      }
      if (event.replica != replica_ || !event.Is<StepEvent>()) continue;
      ++steps;
      CountPatterns(names, saves);
      of_last = std::exchange(names, {});
    }
    return steps > 1 && std::ranges::any_of(of_last, [&](const std::string& name) {
             return saves[WithoutNumbers(name)] == steps && Tells(name);
           });
  }

  static void CountPatterns(const std::set<std::string>& names,
                            std::map<std::string, size_t>& counts) {
    std::set<std::string> patterns;
    for (const std::string& name : names) patterns.insert(WithoutNumbers(name));
    for (const std::string& pattern : patterns) ++counts[pattern];
  }

  bool IsLast(int64_t step) const {
    const StepRecords steps = EffectiveSteps(baseline_.run(), replica_);
    return !steps.empty() && steps.rbegin()->first == step;
  }

  // Whether the object depends on the training, is compared, and is the same.
  bool Tells(const std::string& name) const {
    const auto object = baseline_.run().objects.find(name);
    const auto mine = recovery_.objects.find(name);
    const bool are_there =
        object != baseline_.run().objects.end() && mine != recovery_.objects.end();
    if (!are_there || !baseline_.Compares(name)) return false;
    const std::string& bytes = object->second.bytes;
    const auto json = ParseJson(bytes);
    const bool depends = json.ok() ? HoldsMoreThanCounters(*json) : !bytes.empty();
    return depends && IsSameObject(baseline_, name, mine->second.bytes, restarts_);
  }

  const Baseline& baseline_;
  const std::string& replica_;
  const Evidence& recovery_;
  const size_t restarts_;
};

bool IsSureFlaw(const Flaw& flaw) { return flaw.doubt.empty(); }

// The missing steps, if nothing else is surely wrong. `flaws.end()`: something is, or no step is
// missing.
std::vector<Flaw>::iterator FindOnlyMissingSteps(std::vector<Flaw>& flaws) {
  const auto found = std::ranges::find_if(flaws, IsSureFlaw);
  const bool is_only = std::ranges::count_if(flaws, IsSureFlaw) == 1;
  return is_only && found->kind == Flaw::Kind::kMissingSteps ? found : flaws.end();
}

}  // namespace

std::set<int64_t> NumbersOf(const StepRecords& records) {
  std::set<int64_t> numbers;
  for (const auto& [step, record] : records) numbers.insert(step);
  return numbers;
}

std::set<int64_t> Without(const std::set<int64_t>& all, const std::set<int64_t>& some) {
  std::set<int64_t> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

bool IsSameObject(const Baseline& baseline, const std::string& name, const std::string& bytes,
                  size_t restarts) {
  const std::string& wanted = baseline.run().objects.at(name).bytes;
  return baseline.how().objects.Equal(bytes, wanted) ||
         CountsStarts(wanted, bytes, static_cast<int64_t>(restarts));
}

void DoubtUnreportedSteps(const Baseline& baseline, const CrashPoint* first,
                          const CrashPoint& point, const Evidence& recovery,
                          std::vector<Flaw>& flaws) {
  const auto flaw = FindOnlyMissingSteps(flaws);
  if (flaw == flaws.end()) return;
  for (const std::string& replica : baseline.replicas()) {
    UnreportedSteps steps(baseline, replica, recovery);
    if (first) steps.Note(0, *first);
    steps.Note(first ? first->events : 0, point);
    if (!steps.AreAll()) continue;
    const ObjectsOfSteps objects(baseline, replica, recovery, first ? 2 : 1);
    const bool were_done =
        std::ranges::all_of(steps.missing(), [&](int64_t step) { return objects.Show(step); });
    flaw->doubt = kUnreportedStep;
    if (were_done) flaws.erase(flaw);
    return;
  }
}

}  // namespace caip::harness
