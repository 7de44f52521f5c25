#include "harness/files/lost_files.h"

#include <algorithm>
#include <map>
#include <set>

namespace caip::harness {
namespace {

using Kind = FileChange::Kind;

bool ChangesNames(const FileChange& change) {
  return change.kind != Kind::kContents && change.kind != Kind::kSync &&
         change.kind != Kind::kClose;
}

/// What was synced in a part of a log.
class Synced {
 public:
  Synced(const std::vector<FileChange>& changes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const FileChange& change = changes[i];
      if (change.kind != Kind::kSync) continue;
      names_ = i;
      if (change.number == kEverything) all_contents_ = i;
      contents_[change.number] = i;
    }
    for (size_t i = 0; i < count; ++i) {
      if (changes[i].kind == Kind::kContents && !Has(changes[i], i)) newest_ = changes[i].number;
    }
  }

  /// Whether the change, with that index, is on the disk for sure.
  bool Has(const FileChange& change, size_t index) const {
    if (ChangesNames(change)) return index < names_;
    const auto own = contents_.find(change.number);
    return index < all_contents_ || (own != contents_.end() && index < own->second);
  }
  /// The file whose contents were written last among those that are not synced; -1: there is none.
  NodeNumber newest() const { return newest_; }

 private:
  size_t names_ = 0;  // the indices before which all changes are synced
  size_t all_contents_ = 0;
  std::map<NodeNumber, size_t> contents_;
  NodeNumber newest_ = -1;
};

bool IsLost(const FileChange& change, PowerLoss lost, const Synced& synced) {
  if (ChangesNames(change)) return lost == PowerLoss::kNames;
  switch (lost) {
    case PowerLoss::kContents:
      return true;
    case PowerLoss::kOlderContents:
      return change.number != synced.newest();
    case PowerLoss::kNewestContents:
      return change.number == synced.newest();
    case PowerLoss::kNames:
      return false;
  }
  return false;
}

}  // namespace

FileTree AfterPowerLoss(const FileLog& log, size_t changes, PowerLoss lost) {
  const std::vector<FileChange>& all = log.changes();
  const size_t count = std::min(changes, all.size());
  const Synced synced(all, count);
  FileTree tree = log.begin();
  std::set<NodeNumber> cut_off;  // files whose sizes were lost: what came into them is lost, too
  for (size_t i = 0; i < count; ++i) {
    const FileChange& change = all[i];
    const bool follows = change.kind == Kind::kContents && cut_off.contains(change.number);
    if (!synced.Has(change, i) && (follows || IsLost(change, lost, synced))) {
      if (change.kind == Kind::kSize) cut_off.insert(change.number);
      continue;
    }
    Apply(change, tree);
  }
  return tree;
}

}  // namespace caip::harness
