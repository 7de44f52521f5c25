#include "harness/explorer/spoiled_output.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/explorer/other_state.h"
#include "harness/explorer/saved_states.h"

namespace caip::harness {
namespace {

/// The start of a program that had ended with an error.
struct StartAfterError {
  std::string replica;
  int boot = 0;
  size_t begin = 0;  // the index of its event
};

std::optional<StartAfterError> FindStartAfterError(const std::vector<Event>& events) {
  std::set<std::string> failed;  // replicas
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (const auto* exit = event.As<ExitEvent>()) {
      if (exit->signal == 0 && exit->exit_code != 0) failed.insert(event.replica);
    }
    const bool starts = event.Is<StartEvent>() && failed.contains(event.replica);
    if (starts) return StartAfterError{event.replica, event.boot, i};
  }
  return std::nullopt;
}

std::optional<int64_t> FirstStepOf(const std::vector<Event>& events, const std::string& replica,
                                   int boot) {
  for (const Event& event : events) {
    const auto* step = event.As<StepEvent>();
    const bool is_of_boot = boot == 0 || event.boot == boot;
    if (step && event.replica == replica && is_of_boot) return step->step;
  }
  return std::nullopt;
}

std::optional<int64_t> LastStepOf(const std::vector<Event>& events, const std::string& replica) {
  std::optional<int64_t> last;
  for (const Event& event : events) {
    const auto* step = event.As<StepEvent>();
    if (step && event.replica == replica) last = std::max(last.value_or(step->step), step->step);
  }
  return last;
}

// The name that the event removes, of an object or a directory; "" none.
std::string RemovedBy(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  if (!operation || operation->failed) return "";
  if (operation->op == "delete" || operation->op == "rename") return operation->object;
  return operation->op == "move" ? operation->from : "";
}

bool IsRemovedWith(const std::string& name, const std::string& place) {
  return !place.empty() && (name == place || name.starts_with(place + "/"));
}

/// The objects that the baseline run removes, and those that it has at its end.
class BaselineObjects {
 public:
  explicit BaselineObjects(const std::vector<Event>& events) {
    ObjectAges ages;
    for (const Event& event : events) {
      const std::string removed = RemovedBy(event);
      if (!removed.empty()) removed_.insert(removed);
      std::erase_if(kept_, [&](const std::string& name) { return IsRemovedWith(name, removed); });
      for (std::string& name : ages.Take(event)) kept_.insert(std::move(name));
    }
  }

  bool Keeps(const std::string& name) const { return kept_.contains(name); }
  bool Removes(const std::string& name) const {
    return std::ranges::any_of(
        removed_, [&](const std::string& place) { return IsRemovedWith(name, place); });
  }

 private:
  std::set<std::string> removed_;
  std::set<std::string> kept_;
};

/// What was stored when the program ended with an error, and what its second start does to it.
class SecondStart {
 public:
  SecondStart(const std::vector<Event>& events, StartAfterError start, const Evidence& twin)
      : events_(events),
        start_(std::move(start)),
        baseline_(twin.events),
        saved_(twin.events),
        last_step_(LastStepOf(twin.events, start_.replica)) {
    saved_.Add({events.begin(), events.begin() + static_cast<ptrdiff_t>(start_.begin)});
    for (size_t i = 0; i < start_.begin; ++i) Remember(events[i]);
    const auto first = FirstStepOf(events, start_.replica, 0);
    const auto second = FirstStepOf(events, start_.replica, start_.boot);
    reports_steps_ = first.has_value();
    resumes_ = first && second && *second > *first;
  }

  /// The first object that is certainly spoiled; else the first one that is possibly written again.
  std::optional<SpoiledObject> Find(const std::function<bool(const std::string&)>& compares) {
    std::optional<SpoiledObject> found;
    for (size_t i = start_.begin; i < events_.size(); ++i) {
      for (SpoiledObject& spoiled : SpoiledBy(events_[i])) {
        if (!compares(spoiled.name)) continue;
        if (spoiled.doubt == SpoiledObject::Doubt::kNone) return spoiled;
        if (!found) found = std::move(spoiled);
      }
    }
    return found;
  }

 private:
  void Remember(const Event& event) {
    for (const std::string& name : ages_.Take(event)) stored_[name] = ages_.AgeOf(name);
    const std::string removed = RemovedBy(event);
    std::erase_if(stored_, [&](const auto& one) { return IsRemovedWith(one.first, removed); });
  }

  std::vector<SpoiledObject> SpoiledBy(const Event& event) {
    Notice(event);
    std::vector<SpoiledObject> spoiled;
    const std::string removed = RemovedBy(event);
    const bool is_renamed = event.Is<StorageEvent>() && event.As<StorageEvent>()->op == "rename";
    const std::string boot = " by boot " + std::to_string(event.boot);
    for (const auto& [name, age] : stored_) {
      if (!IsRemovedWith(name, removed) || MayBeRemoved(name)) continue;
      spoiled.push_back(Spoiled(name, (is_renamed ? "renamed" : "deleted") + boot));
    }
    for (const std::string& name : ages_.Take(event)) {
      if (!IsSetBack(event, name)) continue;
      const auto age = ages_.AgeOf(name);
      spoiled.push_back(Spoiled(name, "overwritten" + boot + AgeText(age)));
      spoiled.back().doubt = DoubtOf(age);
    }
    return spoiled;
  }

  // A start that reads what was stored resumes, even if it has done no step yet.
  void Notice(const Event& event) {
    if (event.replica != start_.replica) return;
    if (event.Is<StartEvent>()) step_.reset();
    if (const auto* step = event.As<StepEvent>()) step_ = step->step;
    const auto* operation = event.As<StorageEvent>();
    if (!operation || operation->op != "read" || operation->failed) return;
    const auto stored = stored_.find(operation->object);
    if (stored == stored_.end()) return;
    // What no step preceded, such as a configuration, is not a state of the training.
    if (reports_steps_ && !stored->second) return;
    if (!reports_steps_ && !saved_.MayBeState(stored->first)) {
      has_read_other_ = true;
      return;
    }
    resumes_ = true;
    read_ = std::max(read_, stored->second);
  }

  // The training removes it in the baseline run, too: for good, or to replace it with a newer one.
  bool MayBeRemoved(const std::string& name) const {
    if (!baseline_.Removes(name)) return false;
    return !baseline_.Keeps(name) || (step_ && step_ > stored_.at(name));
  }

  // An object that no step preceded is written at each start, such as a configuration.
  bool IsSetBack(const Event& event, const std::string& name) const {
    const auto stored = stored_.find(name);
    if (event.replica != start_.replica || stored == stored_.end()) return false;
    if (!reports_steps_) return !resumes_ && saved_.MayBeState(name);
    const auto before = stored->second;
    const auto now = ages_.AgeOf(name);
    const bool is_complete = last_step_ && read_ && *read_ >= *last_step_;  // no step is left
    return before && (now ? *now < *before : !is_complete);
  }

  // `age` of what was written.
  SpoiledObject::Doubt DoubtOf(std::optional<int64_t> age) const {
    if (!reports_steps_ && has_read_other_) return SpoiledObject::Doubt::kMayResume;
    return resumes_ && age ? SpoiledObject::Doubt::kIsRedone : SpoiledObject::Doubt::kNone;
  }

  SpoiledObject Spoiled(const std::string& name, std::string found) const {
    return {name, name + " unchanged, written" + AgeText(stored_.at(name)), std::move(found)};
  }

  static std::string AgeText(std::optional<int64_t> age) {
    return age ? " after step " + std::to_string(*age) : " before its first step";
  }

  const std::vector<Event>& events_;
  const StartAfterError start_;
  const BaselineObjects baseline_;
  SavedStates saved_;
  const std::optional<int64_t> last_step_;                // of the baseline run
  std::map<std::string, std::optional<int64_t>> stored_;  // ages by name
  ObjectAges ages_;
  std::optional<int64_t> step_;  // the last one of the second start
  std::optional<int64_t> read_;  // the age of the newest object that it has read
  bool reports_steps_ = false;
  bool resumes_ = false;
  bool has_read_other_ = false;  // something that is not saved again and again
};

}  // namespace

std::optional<SpoiledObject> FindSpoiledObject(
    const Evidence& run, const Evidence& twin,
    const std::function<bool(const std::string& object)>& compares) {
  auto start = FindStartAfterError(run.events);
  if (!start) return std::nullopt;
  return SecondStart(run.events, *std::move(start), twin).Find(compares);
}

bool WasRestartedAfterError(const Evidence& run) {
  return FindStartAfterError(run.events).has_value();
}

}  // namespace caip::harness
