#pragma once
// Decides faults at exact points of a replica: a watcher sees a watched call while the calling
// thread waits in the kernel.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// Where a replica is held, so that a fault can be decided at exactly that point.
struct ReplicaWatch {
  bool output = false;                  // at each write to its stdout or stderr
  std::vector<std::string> roots = {};  // at file operations below these directories
  bool any() const { return output || !roots.empty(); }
};

/// What a replica does to a file or directory below a watched root.
struct FileOperation {
  enum class Kind {
    kCreate,     // opened for writing, and not there before
    kOverwrite,  // opened for writing, there before
    kWrite,      // bytes into it
    kWhole,      // about to be closed by the last that has it open for writing; After only
    kRename,
    kDelete,  // unlink, rmdir
    kRead,    // opened for reading
    kList,    // the entries of a directory
  };
  Kind kind = Kind::kRead;
  std::string path;          // absolute, without links in its directories
  std::string target = {};   // kRename: the new path
  int64_t bytes = 0;         // kWrite, kWhole: written since it was opened, before this call
  int64_t count = 0;         // kWrite: that this call wants to write
  bool was_created = false;  // kWhole: rather than overwritten
  bool is_told = true;       // kWhole: false where its process ends: nobody hears of a failure
};

/// A file that a replica is about to open, rename or delete, wherever it is.
struct FileSight {
  enum class Kind { kRead, kWrite, kRename, kDelete };
  Kind kind = Kind::kRead;
  std::string path;         // as in FileOperation
  std::string target = {};  // kRename: the new path
  bool is_there = false;    // the file was there before
  bool reads_too = false;   // kWrite: what is there can be read and is kept
};

/// The decision about a call.
struct Verdict {
  enum class Kind {
    kGoOn,   // it is carried out
    kFail,   // it returns `error`; asked before, it has no effect
    kPart,   // kWrite: `bytes` of it are written, then the question is put again for the rest
    kNever,  // it never returns: the replica is being killed. No later call is answered either
  };
  Kind kind = Kind::kGoOn;
  int error = 0;
  int64_t bytes = 0;
};

/// Called on a thread for each replica, one call at a time; may block, and the replica with it: its
/// other watched calls wait, too. While one is held, Freeze and Kill work.
class ReplicaWatcher {
 public:
  enum class Answer { kGoOn, kNever };  // as in Verdict
  virtual ~ReplicaWatcher() = default;
  /// The replica wrote to its stdout or stderr, and the log sink has the lines that this completed
  /// (but for those that may be half a traceback). When this returns the write does.
  virtual Answer OutputSeen(const engine::ReplicaKey& key) = 0;
  virtual Verdict Before(const engine::ReplicaKey& key, const FileOperation& operation) = 0;
  /// The operation took effect, or failed with `error`. The replica does not know yet and gets the
  /// result that this returns: after kFail, a failure. A file that is whole is closed anyway.
  virtual Verdict After(const engine::ReplicaKey& key, const FileOperation& operation,
                        int error) = 0;
  /// Whether it wants to see the sights of all replicas.
  virtual bool looks() const { return false; }
  /// Nothing is decided here.
  virtual void Seen(const engine::ReplicaKey&, const FileSight&) {}
  /// Processes that outlived their replica's main process, "421 sleep 600"; called before the exit
  /// is reported.
  virtual void LeftRunning(const engine::ReplicaKey&, const std::vector<std::string>&) {}
  /// The replica's processes are dead: a call above that blocks has to return. Any thread. The
  /// replica's exit is reported when no call above is running.
  virtual void Gone(const engine::ReplicaKey& key) = 0;
};

}  // namespace caip::host
