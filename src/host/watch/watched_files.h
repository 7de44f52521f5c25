#pragma once
// File operations of a watched replica below its roots. caip carries out those operations that the
// watcher may want to see after they took effect. The kernel carries out the others.

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/watch/replica_watcher.h"
#include "host/watch/watched_call.h"
#include "host/watch/watched_process.h"

namespace caip::host {

/// Tracks the files that the replica has open for writing. Used by the replica's own thread. The
/// arguments must outlive it.
class WatchedFiles {
 public:
  /// `init` is the ancestor of all processes of the replica.
  WatchedFiles(const engine::ReplicaKey& key, const ReplicaWatch& watch, ReplicaRoot& root,
               pid_t init, ReplicaWatcher& watcher);

  Handled Handle(const WatchedCall& call);

  /// Whether the last writer of a file may have ended, or closed it, without a call that showed it.
  bool MayHaveClosed(const WatchedCall& call) const;
  /// Reports such files. Called at each call before the call is handled; Handle does so itself.
  Verdict ReportClosed(const WatchedCall& call);

 private:
  struct Written {  // a file that is open for writing
    std::string path;
    bool is_new = false;
    bool has_name = true;
    int64_t bytes = 0;
    int failing = 0;          // the error of the next write or close
    bool has_changed = true;  // since its last event; an opening is a change
    pid_t opener = 0;         // the thread that opened it
    bool is_left = false;     // its opener has closed it or ended, and others had it open
    FileWriter other = {};    // one of these others, when they were last sought
  };
  /// Whether a call closes a descriptor.
  using Closes = std::function<bool(const FileWriter&)>;
  /// A call that opens a file (open, openat, creat, ...).
  struct Opening {
    int directory;
    std::string path;
    int flags;
    mode_t mode;
  };
  struct AttributeCall;  // watched_attributes.cc

  /// Whether operations on the path, or only changes of it, are watched.
  bool IsWatched(const std::string& path) const;
  bool IsChangeWatched(const std::string& path) const;
  std::optional<std::string> Resolve(const WatchedCall& call, int directory, uint64_t text,
                                     PathEnd end = PathEnd::kName) const;
  bool MayReachName(const WatchedCall& call, int directory, uint64_t text, PathEnd end) const;

  Handled HandleContents(const WatchedCall& call);
  Handled Open(const WatchedCall& call);
  Handled OpenBelow(const WatchedCall& call, const Opening& opening, FileOperation operation);
  Handled Rename(const WatchedCall& call);
  Handled Delete(const WatchedCall& call);
  Handled MakeDirectory(const WatchedCall& call);
  Handled Link(const WatchedCall& call);
  Handled Symlink(const WatchedCall& call);
  Handled List(const WatchedCall& call);
  Handled Write(const WatchedCall& call);
  Handled WriteAll(const WatchedCall& call, int descriptor, Written& written);
  static Handled FailPending(const WatchedCall& call, Written& written);
  int64_t WritePart(const WatchedCall& call, int file, int64_t skip, int64_t bytes) const;
  Handled Truncate(const WatchedCall& call);
  Handled SetSize(const WatchedCall& call, int file, const FileOperation& operation);
  Handled Reserve(const WatchedCall& call, int file, FileOperation operation);
  Handled Sync(const WatchedCall& call);
  Handled Map(const WatchedCall& call);
  Handled RefuseCopy(const WatchedCall& call);

  Handled HandleAttributes(const WatchedCall& call);
  Handled SetMode(const WatchedCall& call);
  Handled SetTimes(const WatchedCall& call);
  Handled SetAttributes(const WatchedCall& call, const AttributeCall& wanted);
  std::optional<std::string> PathOf(const WatchedCall& call, const AttributeCall& wanted) const;

  Handled HandleClose(const WatchedCall& call);
  Handled Close(const WatchedCall& call, int descriptor);
  Handled CloseRange(const WatchedCall& call);
  Handled CloseAll(const WatchedCall& call, const Closes& closes);
  Handled Execute(const WatchedCall& call);
  std::vector<FileId> LastClosedBy(const WatchedCall& call, const Closes& closes);
  bool ClosesAsLast(pid_t caller, const FileId& file, const Closes& closes);
  std::vector<pid_t> Processes(pid_t caller) const;
  std::optional<FileWriter> FindWriter(const std::vector<pid_t>& processes,
                                       const FileId& file) const;
  static bool MayBeClosed(const Written& written, const WatchedCall& call);
  bool IsStillOpen(const WatchedCall& call, const FileId& file, Written& written) const;

  /// kNotMine: the kernel may carry out the call.
  Handled Ask(const WatchedCall& call, const FileOperation& operation);
  /// Reports the result to the watcher, then to the replica.
  Handled Answer(const WatchedCall& call, const FileOperation& operation, int64_t result);
  /// Reports to the watcher that the last writer closes the file.
  Verdict Whole(const FileId& file, bool is_answered);
  /// A file that is renamed while it is open, or opened once more: reports what was written so far
  /// as one event. What follows is another one.
  Verdict EndSoFar(Written& written);
  Verdict EndSoFarBelow(const std::string& path);
  /// The open file that only this name leads to.
  std::optional<FileId> OnlyNameOf(const std::string& path) const;
  /// That name is gone.
  void LoseName(const FileId& file);

  const engine::ReplicaKey& key_;
  std::vector<std::string> roots_;  // with a slash at the end
  std::vector<std::string> changed_roots_;
  ReplicaRoot& root_;
  pid_t init_;
  ReplicaWatcher& watcher_;
  std::map<FileId, Written> written_;
};

}  // namespace caip::host
