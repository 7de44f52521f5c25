#pragma once
// What a trainer that reports no steps stores: states of its training, or things like a
// configuration, which it writes once.

#include <map>
#include <string>
#include <vector>

#include "harness/events/event.h"

namespace caip::harness {

/// Tells them apart by the writes of a run. One boot of a replica saves a state again and again,
/// under one name or under names that differ in their numbers only. A configuration is written by
/// each boot and each replica once.
class SavedStates {
 public:
  explicit SavedStates(const std::vector<Event>& run) { Add(run); }
  /// Takes the writes of another run into account.
  void Add(const std::vector<Event>& run);

  /// Whether anything was saved again. If not, the writes do not tell what is a state.
  bool are_known() const { return are_known_; }
  /// Also for the files of a directory that is renamed again and again. True for each object if
  /// states are not known.
  bool MayBeState(const std::string& object) const;

 private:
  std::map<std::string, int> most_;  // writes in one boot, by the name without numbers
  bool are_known_ = false;
};

}  // namespace caip::harness
