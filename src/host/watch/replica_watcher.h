#pragma once
// Decides about faults at exact points of a replica: a watcher sees a watched call while the
// calling thread waits for the answer.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// The calls at which a replica is held, so that a fault can be decided at exactly that point.
struct ReplicaWatch {
  bool output = false;                  // at each write to its stdout or stderr
  std::vector<std::string> roots = {};  // at file operations below these directories
  /// At operations below these directories that change files. "/": the whole disk of a machine,
  /// without /proc, /sys and /dev.
  std::vector<std::string> changed_roots = {};
  bool any_files() const { return !roots.empty() || !changed_roots.empty(); }
  bool any() const { return output || any_files(); }
};

/// An operation of a replica on a file or directory below a watched root. Paths are those that the
/// replica sees.
struct FileOperation {
  enum class Kind {
    kCreate,     // opened for writing; did not exist before
    kOverwrite,  // opened for writing; existed before
    kWrite,      // bytes written
    kWhole,      // the last writer is about to close it, or has; After only
    kRename,
    kDelete,         // unlink, rmdir
    kTruncate,       // the size is set
    kLink,           // a second name of a file
    kSymlink,        // a link that holds a path
    kMakeDirectory,  // mkdir
    kSync,           // what was written before is on the disk now; After only
    kMap,            // bytes of the file will change without a call; After only
    kRead,           // opened for reading
    kList,           // the entries of a directory
    kAttributes,     // the mode or the times of a file or directory are set; After only
  };
  Kind kind = Kind::kRead;
  /// Absolute, without links in its directories. kSync: "" is all files.
  std::string path;
  /// kRename: the new path. kLink: the path that exists. kSymlink: the text of the link.
  std::string target = {};
  /// kWrite, kWhole: written since it was opened, before this call. kTruncate: the new size.
  int64_t bytes = 0;
  /// kWrite: bytes that this call wants to write; After: has written. kTruncate: bytes for which
  /// the call reserves space; 0: it only sets the size.
  int64_t count = 0;
  int64_t end = -1;          // kWrite, After: the place in the file after them; -1 not known
  bool is_synced = false;    // kWrite, After: the bytes are on the disk (O_SYNC, O_DSYNC)
  bool was_created = false;  // kWhole: created, not overwritten
  bool has_name = true;      // kWhole: false if the file was deleted while it was open
  bool is_answered = true;   // kWhole: false if no call waits that closes it and can fail
  bool sets_time = false;    // kAttributes: the program chose a time of the last write
};

/// A file anywhere that a replica is about to open, rename or delete, by the path that it sees.
struct FileAccess {
  enum class Kind { kRead, kWrite, kRename, kDelete };
  Kind kind = Kind::kRead;
  std::string path;         // as in FileOperation
  std::string target = {};  // kRename: the new path
  bool is_there = false;    // the file exists
  bool reads_too = false;   // kWrite: the present content is readable and kept
};

/// The decision about a call.
struct Verdict {
  enum class Kind {
    kGoOn,   // the call is carried out
    kFail,   // it returns `error`; if decided before the call, it has no effect
    kPart,   // kWrite: `bytes` are written, then the watcher decides about the rest
    kNever,  // it never returns: the replica is being killed. No later call is answered either
  };
  Kind kind = Kind::kGoOn;
  int error = 0;
  int64_t bytes = 0;
};

/// Called on one thread for each replica, one call at a time. A call may block, and then all
/// watched calls of the replica wait. Freeze and Kill work meanwhile.
class ReplicaWatcher {
 public:
  enum class Answer { kGoOn, kNever };  // as in Verdict
  virtual ~ReplicaWatcher() = default;
  /// The replica's first call is about to come. All its processes descend from `init`.
  virtual void Started(const engine::ReplicaKey&, pid_t) {}
  /// The replica wrote to its stdout or stderr, and the log sink has the completed lines (except
  /// those that may be half a traceback). The write returns when this returns.
  virtual Answer OutputSeen(const engine::ReplicaKey& key) = 0;
  virtual Verdict Before(const engine::ReplicaKey& key, const FileOperation& operation) = 0;
  /// The operation took effect, or failed with `error`. The replica does not know yet and gets the
  /// result that this returns: after kFail, a failure. A kWhole file is closed anyway.
  virtual Verdict After(const engine::ReplicaKey& key, const FileOperation& operation,
                        int error) = 0;
  /// True if the watcher wants to see operations on open files that were deleted, which change no
  /// state. They are reported under the last name.
  virtual bool wants_deleted() const { return false; }
  /// True if the watcher wants to see the files that replicas open, rename or delete.
  virtual bool wants_files() const { return false; }
  /// Called for each such file. Decides nothing.
  virtual void Seen(const engine::ReplicaKey&, const FileAccess&) {}
  /// Processes that outlived their replica's main process, "421 sleep 600"; called before the exit
  /// is reported.
  virtual void LeftRunning(const engine::ReplicaKey&, const std::vector<std::string>&) {}
  /// The replica's processes are dead, so blocked calls above must return. Any thread. The
  /// replica's exit is reported when no call above is running.
  virtual void Gone(const engine::ReplicaKey& key) = 0;
};

}  // namespace caip::host
