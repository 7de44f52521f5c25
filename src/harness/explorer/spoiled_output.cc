#include "harness/explorer/spoiled_output.h"

#include <map>
#include <set>

#include "harness/explorer/other_state.h"

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

// The name of an object that the event removes; "" none.
std::string RemovedBy(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  if (!operation || operation->failed) return "";
  if (operation->op == "delete") return operation->object;
  return operation->op == "move" ? operation->from : "";
}

std::set<std::string> RemovedIn(const Evidence& run) {
  std::set<std::string> removed;
  for (const Event& event : run.events) removed.insert(RemovedBy(event));
  return removed;
}

/// What was stored when the program ended with an error, and what its second start does to it.
class SecondStart {
 public:
  SecondStart(const std::vector<Event>& events, StartAfterError start)
      : events_(events), start_(std::move(start)) {
    for (size_t i = 0; i < start_.begin; ++i) Remember(events[i]);
    const auto first = FirstStepOf(events, start_.replica, 0);
    const auto second = FirstStepOf(events, start_.replica, start_.boot);
    reports_steps_ = first.has_value();
    resumes_ = first && second && *second > *first;
  }

  std::optional<SpoiledObject> Find(const std::set<std::string>& may_be_removed,
                                    const std::function<bool(const std::string&)>& compares) {
    for (size_t i = start_.begin; i < events_.size(); ++i) {
      const Event& event = events_[i];
      Notice(event);
      const std::string removed = RemovedBy(event);
      if (IsStored(removed) && compares(removed) && !may_be_removed.contains(removed)) {
        return Spoiled(removed, "deleted by boot " + std::to_string(event.boot));
      }
      for (const std::string& name : ages_.Take(event)) {
        if (compares(name) && IsSetBack(event, name)) {
          return Spoiled(name, "overwritten by boot " + std::to_string(event.boot) +
                                   AgeText(ages_.AgeOf(name)));
        }
      }
    }
    return std::nullopt;
  }

 private:
  void Remember(const Event& event) {
    for (const std::string& name : ages_.Take(event)) stored_[name] = ages_.AgeOf(name);
    stored_.erase(RemovedBy(event));
  }

  bool IsStored(const std::string& name) const { return !name.empty() && stored_.contains(name); }

  // A start that reads what was stored resumes, even if it has done no step yet.
  void Notice(const Event& event) {
    const auto* operation = event.As<StorageEvent>();
    const bool reads = operation && operation->op == "read" && !operation->failed;
    if (reads && event.replica == start_.replica && IsStored(operation->object)) resumes_ = true;
  }

  // An object that no step preceded is written at each start, such as a configuration.
  bool IsSetBack(const Event& event, const std::string& name) const {
    if (resumes_ || event.replica != start_.replica || !IsStored(name)) return false;
    const auto before = stored_.at(name);
    if (!reports_steps_) return true;
    const auto now = ages_.AgeOf(name);
    return before && (!now || *now < *before);
  }

  SpoiledObject Spoiled(const std::string& name, std::string found) const {
    return {name, name + " as it was" + AgeText(stored_.at(name)), std::move(found)};
  }

  static std::string AgeText(std::optional<int64_t> age) {
    return age ? " after step " + std::to_string(*age) : " before its first step";
  }

  const std::vector<Event>& events_;
  const StartAfterError start_;
  std::map<std::string, std::optional<int64_t>> stored_;  // ages by name
  ObjectAges ages_;
  bool reports_steps_ = false;
  bool resumes_ = false;
};

}  // namespace

std::optional<SpoiledObject> FindSpoiledObject(
    const Evidence& run, const Evidence& twin,
    const std::function<bool(const std::string& object)>& compares) {
  auto start = FindStartAfterError(run.events);
  if (!start) return std::nullopt;
  return SecondStart(run.events, *std::move(start)).Find(RemovedIn(twin), compares);
}

bool WasRestartedAfterError(const Evidence& run) {
  return FindStartAfterError(run.events).has_value();
}

}  // namespace caip::harness
