#pragma once
// Changes of records that are staged and not on disk yet, so that those that the disk refuses are
// withdrawn, in whichever order their threads learn of it.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace caip::gcs {

/// Keeps the record from before each such change. A change is based on all earlier ones of its key:
/// it is on disk only with them. The owner's mutex guards it.
template <typename Record>
class UnsavedChanges {
 public:
  /// Adds the newest change of the record. `revision` is larger than those of earlier changes.
  void Add(const std::string& key, int64_t revision, Record before) {
    changes_[key].push_back({revision, std::move(before)});
  }

  /// The change is on disk.
  void NoteSaved(const std::string& key, int64_t revision) {
    const auto at = changes_.find(key);
    if (at == changes_.end()) return;
    std::erase_if(at->second, [&](const Change& change) { return change.revision <= revision; });
    if (at->second.empty()) changes_.erase(at);
  }

  /// The disk has refused the change. Returns the record to show instead. nullopt: there is none,
  /// because a later change is based on this one and may still be saved, or the key was forgotten.
  std::optional<Record> NoteRefused(const std::string& key, int64_t revision) {
    const auto at = changes_.find(key);
    if (at == changes_.end()) return std::nullopt;
    std::vector<Change>& changes = at->second;
    for (Change& change : changes) change.is_refused |= change.revision == revision;
    std::optional<Record> shown;
    for (; !changes.empty() && changes.back().is_refused; changes.pop_back()) {
      shown = std::move(changes.back().before);
    }
    if (changes.empty()) changes_.erase(at);
    return shown;
  }

  /// The record was removed, and its changes with it.
  void Forget(const std::string& key) { changes_.erase(key); }

 private:
  struct Change {
    int64_t revision = 0;
    Record before;
    bool is_refused = false;
  };
  std::map<std::string, std::vector<Change>> changes_;  // the oldest first
};

}  // namespace caip::gcs
