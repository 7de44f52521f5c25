#pragma once
// Artefacts that belong to another state of the training: weights of one step beside an optimizer
// of another, or a best model that is not the best.
//
// The age of an object is the step that its writer had reported last when it wrote the object. So
// a trainer that reports no steps has no such flaws.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/events/event.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/flaw.h"

namespace caip::harness {

/// The ages of the objects of a run, after the events so far. For one thread.
class ObjectAges {
 public:
  ObjectAges() = default;
  explicit ObjectAges(const std::vector<Event>& events) {
    for (const Event& event : events) Take(event);
  }

  /// Returns the names that the event gave new contents. A directory may be renamed.
  std::vector<std::string> Take(const Event& event);
  /// nullopt: not written, or before the first step that the writer reported since it started.
  std::optional<int64_t> AgeOf(const std::string& name) const;

 private:
  std::vector<std::string> Rename(const std::string& from, const std::string& to);

  std::map<std::string, std::optional<int64_t>> ages_;
  std::map<std::string, int64_t> steps_;  // the last one of each replica
};

inline constexpr char kOtherState[] = "an artefact belongs to another state";

/// The flaw if the replica that was restarted at `point` read objects of different ages before its
/// first step, which the baseline run always wrote together. nullopt if it did not.
std::optional<Flaw> FindMixture(const Baseline& baseline, const CrashPoint& point,
                                const Evidence& recovery);

}  // namespace caip::harness
