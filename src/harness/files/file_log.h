#pragma once
// All changes that a run made to files, one by one, so that the files can be rebuilt as they were
// at any crash point.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/explorer/crash_point.h"
#include "harness/files/file_tree.h"

namespace caip::harness {

inline constexpr NodeNumber kEverything = -1;
inline constexpr NodeNumber kNoFile = -2;

/// One change.
struct FileChange {
  enum class Kind {
    kMake,      // `node` gets its first name
    kSize,      // the size of a file is set
    kContents,  // bytes of a file are written
    kLink,      // the node gets one more name
    kRename,    // `name` becomes `other`
    kExchange,  // of `name` and `other`
    kDelete,
    kAttributes,  // the mode or the time of the node is set
    kSync,        // all names, and the contents of the node, are on the disk
    kClose,       // nothing changes: the end of an event
  };
  Kind kind = Kind::kClose;
  std::string name = {};
  std::string other = {};
  NodeNumber number = -1;  // kSync: also kEverything, or kNoFile for the sync of a directory
  FileNode node = {};      // kMake. kSize, kContents: size, mode, time, and the changed blocks.
                           // kAttributes: mode and time
  size_t first_block = 0;  // of the changed ones
  uint64_t begin = 0;      // kContents: the place in the file of the first written byte
  uint64_t count = 0;      // kContents: written bytes
  /// The time that the change gave to the directories of its names; 0: none, or not known.
  int64_t directories_ns = 0;

  /// The event that the change belongs to, as a crash point names it.
  std::string replica = {};
  std::string op = {};
  std::string object = {};
  int64_t nth = 0;                   // among the events with that replica, op and object; 0: none
  std::optional<uint64_t> mid = {};  // bytes of the new contents that are written after the change
  size_t acts = 0;                   // of replicas before the change
};

/// A write of a file's contents that has begun and not ended.
struct BegunOperation {
  std::string replica = {};
  std::string op = {};
  std::string object = {};
  uint64_t bytes = 0;  // written so far
};

/// A moment of a run: after the first `changes` changes, and `bytes` of the next one.
struct FileCut {
  size_t changes = 0;
  uint64_t bytes = 0;
};

/// For one thread; many may read it when it is complete.
class FileLog {
 public:
  /// The files before the run. Later blocks of kind kAtFirst are theirs.
  explicit FileLog(FileTree begin = {})
      : begin_(begin), now_(std::move(begin)), next_(begin_.LastNumber() + 1) {}

  /// Counts the operations of an earlier part of the run, so that numbers of events continue.
  void CountEarlier(const std::vector<Event>& events);

  /// The files after all changes.
  const FileTree& now() const { return now_; }
  /// The number for a new node.
  NodeNumber NextNumber() const { return next_; }
  /// Counts an event, and returns its number from 1 among those with its name. Triggers of faults
  /// also count those that lead to the object: the new name of a rename.
  int64_t CountEvent(const std::string& replica, const StorageEvent& event);
  /// Applies the change, and returns its index.
  size_t Add(FileChange change);
  /// Numbers changes whose event has ended only now.
  void Number(const std::vector<size_t>& changes, int64_t nth);

  const FileTree& begin() const { return begin_; }
  const std::vector<FileChange>& changes() const { return changes_; }

  /// The moment at which a machine goes away at that point. `acts`: of replicas before it.
  FileCut CutAt(const CrashPoint& point, size_t acts) const;
  /// Rebuilds the files. Blocks that a write had changed in part are put into `store`.
  Result<FileTree> TreeAt(const FileCut& cut, BlockStore& store) const;
  /// What the replicas were writing. Triggers in it and before it have counted it.
  std::vector<BegunOperation> BegunAt(const FileCut& cut) const;
  /// A text that is equal for cuts with equal files.
  std::string KeyAt(const FileCut& cut) const;

 private:
  using EventName = std::tuple<std::string, std::string, std::string>;  // replica, op, object
  /// The changes that belong to events of the point's name.
  const std::vector<size_t>& ChangesOf(const CrashPoint& point) const;
  std::optional<FileCut> CutOfEvent(const CrashPoint& point) const;
  std::optional<FileCut> CutInContents(const CrashPoint& point) const;

  FileTree begin_;
  FileTree now_;
  std::vector<FileChange> changes_;
  std::vector<uint64_t> keys_;                          // after each change
  std::map<EventName, int64_t> events_;                 // how many there were
  std::map<EventName, std::vector<uint64_t>> earlier_;  // bytes of those of CountEarlier
  std::map<EventName, std::vector<size_t>> index_;      // of changes
  NodeNumber next_;
};

/// Carries out the change in a tree from which earlier changes may be missing.
void Apply(const FileChange& change, FileTree& tree);

}  // namespace caip::harness
