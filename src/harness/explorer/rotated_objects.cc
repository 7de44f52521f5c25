#include "harness/explorer/rotated_objects.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "harness/explorer/other_state.h"

namespace caip::harness {
namespace {

/// How far a replica has come with its training and with objects of one pattern.
struct PlaceInTraining {
  std::optional<int64_t> step;  // the last one that it reported
  std::string saved;            // the object like these that was written last

  bool operator==(const PlaceInTraining&) const = default;
};

/// Follows a run up to one of its events.
class RunSoFar {
 public:
  /// `object`: one of those that are saved in turn.
  explicit RunSoFar(const std::string& object)
      : object_(object), pattern_(WithoutNumbers(object)) {}

  void Take(const Event& event) {
    if (const auto* step = event.As<StepEvent>()) steps_[event.replica] = step->step;
    const auto* operation = event.As<StorageEvent>();
    const bool copies =
        operation && !operation->failed && operation->op != "rename" && operation->from == object_;
    for (const std::string& name : ages_.Take(event)) {
      if (WithoutNumbers(name) == pattern_) saved_ = name;
    }
    if (copies) copied_at_ = PlaceOf(event.replica);
  }
  PlaceInTraining PlaceOf(const std::string& replica) const {
    const auto step = steps_.find(replica);
    return {step == steps_.end() ? std::nullopt : std::optional(step->second), saved_};
  }
  std::optional<int64_t> age() const { return ages_.AgeOf(object_); }
  // Whether the object was copied at this place: a rename in object storage.
  bool WasCopiedAt(const PlaceInTraining& place) const { return copied_at_ == place; }

 private:
  std::string object_;
  std::string pattern_;
  ObjectAges ages_;
  std::map<std::string, int64_t> steps_;
  std::string saved_;
  std::optional<PlaceInTraining> copied_at_;
};

/// The deletion of an object that was saved before.
struct Deletion {
  std::string replica;
  PlaceInTraining place;
  std::optional<int64_t> age;  // of the object
};

// The last deletion of the object. nullopt: the run does not delete it, or has copied it for that.
std::optional<Deletion> FindDeletion(const std::vector<Event>& run, const std::string& object) {
  std::optional<Deletion> deletion;
  RunSoFar so_far(object);
  for (const Event& event : run) {
    const auto* operation = event.As<StorageEvent>();
    const bool deletes =
        operation && !operation->failed && operation->op == "delete" && operation->object == object;
    if (deletes) {
      const PlaceInTraining place = so_far.PlaceOf(event.replica);
      deletion.reset();
      if (!so_far.WasCopiedAt(place)) deletion = {event.replica, place, so_far.age()};
    }
    so_far.Take(event);
  }
  return deletion;
}

}  // namespace

bool IsLeftByRotation(const Baseline& baseline, const std::string& object, const Evidence& recovery,
                      const std::vector<CrashPoint>& restarts) {
  if (!baseline.HasObjectLike(object)) return false;
  const auto deletion = FindDeletion(baseline.run().events, object);
  if (!deletion || deletion->place.saved == object) return false;
  if (ObjectAges(recovery.events).AgeOf(object) != deletion->age) return false;
  return std::ranges::any_of(restarts, [&](const CrashPoint& restart) {
    RunSoFar so_far(object);
    for (size_t i = 0; i < std::min(restart.events, recovery.events.size()); ++i) {
      so_far.Take(recovery.events[i]);
    }
    return restart.replica == deletion->replica &&
           so_far.PlaceOf(restart.replica) == deletion->place;
  });
}

}  // namespace caip::harness
