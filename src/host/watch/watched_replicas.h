#pragma once
// Replicas whose calls wait for an answer: receives the calls and lets the watcher decide.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/process/replica_output.h"
#include "host/watch/call_source.h"
#include "host/watch/replica_watcher.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// At which calls replicas are held, and who is asked about each.
struct Watching {
  ReplicaWatch watch;
  ReplicaWatcher* watcher = nullptr;
};

/// A replica whose calls are watched.
struct WatchedReplica {
  uint64_t number = 0;  // of ReplicaOutput
  engine::ReplicaKey key;
  Watching watching;
  FileId out;  // the pipes that are its stdout
  FileId err;  // and its stderr
};

/// A thread for each watched replica that lives. Any thread may call.
class WatchedReplicas {
 public:
  /// `output` must outlive this.
  WatchedReplicas(ReplicaOutput& output, Interposition::Kind interposition)
      : output_(output), interposition_(interposition) {}
  WatchedReplicas(const WatchedReplicas&) = delete;
  WatchedReplicas& operator=(const WatchedReplicas&) = delete;
  /// The processes of all replicas must be dead, or about to be.
  ~WatchedReplicas();

  /// A replica that is about to be launched with these pipes as its stdout and stderr. Answers what
  /// the launcher is to watch (launcher/protocol.h); puts into the launch's environment what else
  /// it takes.
  Result<uint32_t> Admit(uint64_t number, const Watching& watching, engine::ReplicaLaunch& launch,
                         int out, int err);
  /// Begins to answer its calls. `init` is the ancestor of its processes; 0: whichever of the
  /// ancestors of who calls first is called caip-replica.
  void Listen(uint64_t number, std::unique_ptr<CallSource> calls, pid_t init);
  /// Its processes are dead: tells the watcher, and calls `done` when the watcher is not busy with
  /// it any more. Of a replica that was not expected it only calls `done`.
  void Finish(uint64_t number, std::function<void()> done);

 private:
  struct Entry {
    WatchedReplica replica;
    std::unique_ptr<CallSource> calls;
    pid_t init = 0;
    std::thread thread;
    std::function<void()> done;  // set by Finish
  };
  void Serve(Entry& entry);
  void Part(uint64_t number);
  void JoinParted();

  ReplicaOutput& output_;
  const Interposition::Kind interposition_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Entry> entries_;
  std::vector<std::thread> parted_;  // have no more to do than to end
};

// The writes of a watched replica to its stdout and stderr, in lock-step with the log.

struct WatchedReplica;

/// Takes the bytes of a write to the log, tells the watcher, and only then lets the write return.
/// The replica's own thread. What it is given outlives it.
class WatchedOutput {
 public:
  WatchedOutput(const WatchedReplica& replica, ReplicaOutput& output, ReplicaWatcher& watcher)
      : replica_(replica), output_(output), watcher_(watcher) {}

  Handled Handle(const WatchedCall& call);

 private:
  /// What the descriptor in an argument of the call stands for.
  std::optional<host::OutputStream> StreamOf(const WatchedCall& call, int argument) const;
  Handled Write(const WatchedCall& call, host::OutputStream stream);
  Handled Tell(const WatchedCall& call, int64_t taken);

  const WatchedReplica& replica_;
  ReplicaOutput& output_;
  ReplicaWatcher& watcher_;
};

}  // namespace caip::host
