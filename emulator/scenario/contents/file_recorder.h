#pragma once
// Records each change that replicas make to files in volumes and in buckets that are directories,
// so that any earlier state can be restored.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "harness/events/event.h"
#include "harness/files/block_store.h"
#include "harness/files/file_log.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// The path on this host of a file with a name in events; nullopt if it is in no volume and no
/// bucket.
using FilePlaces = std::function<std::optional<Path>(const std::string& name)>;

/// An operation of a replica that has taken effect, or failed.
struct FileAct {
  std::string replica;
  host::FileOperation operation;
  harness::StorageEvent event;  // as it is reported: names the file, and a rename's new name
  int error = 0;
  size_t acts = 0;  // of replicas before it
};

/// The watch of a run calls it, while the replica waits. Any thread.
class FileRecorder {
 public:
  /// Many recorders may share one store.
  explicit FileRecorder(std::shared_ptr<harness::BlockStore> store) : store_(std::move(store)) {}

  /// The run continues an earlier one that had these events. Call it before Begin.
  void Continue(std::vector<harness::Event> events) { earlier_ = std::move(events); }
  /// Before the first act: the files as the run finds them.
  void Begin(harness::FileTree files, FilePlaces places);
  /// The files were changed by something else than a replica.
  void StartOver(harness::FileTree files);
  void Take(const FileAct& act);
  /// The bytes of a file changed without an operation.
  void TakeMapped(const FileAct& act);

  /// The first error of any call: then the log is not complete.
  Status outcome() const;
  /// The run is over.
  std::shared_ptr<const harness::FileLog> log() const;

 private:
  using Change = harness::FileChange;

  Change LabelOf(const FileAct& act);
  void Note(const FileAct& act, Change change);
  int64_t TimeOfDirectory(const std::string& name) const;
  void Add(Change change);
  void TakeOpening(const FileAct& act, Change change);
  void TakeWrite(const FileAct& act, Change change);
  void TakeSize(const FileAct& act, Change change);
  void TakeRename(const FileAct& act, Change change);
  void TakeLink(const FileAct& act, Change change);
  void TakeNew(const std::string& name, Change change);
  void TakeEntries(const std::string& name, const Path& directory, const Change& change);
  void TakeChanged(const std::string& name, Change change);
  void TakeSync(const FileAct& act);
  void TakeAttributes(const FileAct& act);
  std::optional<Path> PathOf(const std::string& name) const;
  Status AddBlocks(const Path& path, uint64_t begin, uint64_t end, Change& change) const;

  std::shared_ptr<harness::BlockStore> store_;
  mutable std::mutex mutex_;
  FilePlaces places_;
  std::shared_ptr<harness::FileLog> log_ = std::make_shared<harness::FileLog>();
  std::vector<harness::Event> earlier_;
  std::map<std::string, std::vector<size_t>> open_;  // changes whose events have not ended, by file
  Status outcome_ = Ok{};
};

/// Opens the file for reading. Does not wait, whatever is at the path by now. Invalid if it is
/// something else than a regular file, as if the file were gone: errno is ENOENT then.
Fd OpenRegularFile(const Path& path);

/// Gives the file, directory or link another owner, if caip is run by root. It changes the mode.
void SetOwner(const Path& path, uid_t user, gid_t group);

/// The file, directory or link at `path`, without the blocks of a file. nullopt if there is none,
/// or it is something else. It counts as one whose time no program chose.
std::optional<harness::FileNode> ShapeAt(const Path& path);

/// The same with the blocks of a file. They are of kind kAtFirst, so the file must stay as it is.
std::optional<harness::FileNode> NodeAt(const Path& path);

/// Adds what is in the directory, with names below `name`, but not the directories that are left
/// out. Its files must stay as they are.
void AddTree(const std::string& name, const Path& directory, harness::FileTree& files,
             const std::function<bool(const Path& directory)>& is_left_out);

/// The same for files that may change later: their bytes are put into `store`.
Status AddCopies(const std::string& name, const Path& directory, harness::BlockStore& store,
                 harness::FileTree& files);

/// Makes the files of a directory equal to those of `files` that have names below `name`, and gives
/// them their owners, modes and times. Files in the directory that have the same bytes stay.
/// `copied`: where the directory was copied from, or "".
Status RestoreTree(const harness::FileTree& files, const harness::BlockStore& store,
                   const std::string& name, const Path& directory, const Path& copied);

}  // namespace caip::scenario
