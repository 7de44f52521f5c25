#pragma once
// Changes of records that are staged and not on disk yet. Until they are, readers get the record
// from before: the disk may refuse a change, and the end of the process takes it back.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace caip::gcs {

/// Keeps the record from before each such change. A change is based on all earlier ones of its key:
/// it is on disk only with them. The owner's mutex guards all but the last two calls.
template <typename Key, typename Record>
class UnsavedChanges {
 public:
  /// Adds the newest change of the record, before it is staged. `revision` is larger than those of
  /// earlier changes.
  void Add(const Key& key, int64_t revision, Record before) {
    ++begun_;
    changes_[key].push_back({revision, std::move(before)});
  }

  /// The change is on disk.
  void NoteSaved(const Key& key, int64_t revision) {
    const auto at = changes_.find(key);
    if (at == changes_.end()) return;
    ended_ += std::erase_if(at->second,
                            [&](const Change& change) { return change.revision <= revision; });
    if (at->second.empty()) changes_.erase(at);
  }

  /// The disk has refused the change. Returns the record to stage instead, which is shown already.
  /// nullopt: there is none, because a later change is based on this one and may still be saved.
  std::optional<Record> NoteRefused(const Key& key, int64_t revision) {
    const auto at = changes_.find(key);
    if (at == changes_.end()) return std::nullopt;
    std::vector<Change>& changes = at->second;
    for (Change& change : changes) change.is_refused |= change.revision == revision;
    std::optional<Record> shown;
    for (; !changes.empty() && changes.back().is_refused; changes.pop_back(), ++unstaged_) {
      shown = std::move(changes.back().before);
    }
    if (changes.empty()) changes_.erase(at);
    return shown;
  }
  /// What NoteRefused has returned since the last call is staged.
  void NoteWithdrawn() { ended_ += std::exchange(unstaged_, 0); }

  /// The record that is on disk; nullptr if it has no unsaved changes.
  const Record* FindSaved(const Key& key) const {
    const auto at = changes_.find(key);
    return at == changes_.end() ? nullptr : &at->second.front().before;
  }
  /// True if a record has unsaved changes whose key `concerns` accepts.
  template <typename Predicate>
  bool Any(const Predicate& concerns) const {
    return std::any_of(changes_.begin(), changes_.end(),
                       [&](const auto& item) { return concerns(item.first); });
  }

  /// For readers without the mutex: how many changes there were, if all of them have ended. If
  /// HasBegunSince then returns false for it, nothing unsaved was staged meanwhile.
  std::optional<uint64_t> CountIfEnded() const {
    const uint64_t begun = begun_;
    return begun == ended_ ? std::optional(begun) : std::nullopt;
  }
  bool HasBegunSince(uint64_t count) const { return begun_ != count; }

 private:
  struct Change {
    int64_t revision = 0;
    Record before;
    bool is_refused = false;
  };
  std::map<Key, std::vector<Change>> changes_;  // the oldest first
  uint64_t unstaged_ = 0;                       // refused ones, until NoteWithdrawn
  std::atomic<uint64_t> begun_ = 0;
  std::atomic<uint64_t> ended_ = 0;
};

}  // namespace caip::gcs
