#pragma once
// Receives the calls of watched replicas and lets the watcher decide about them.

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

/// The calls at which replicas are held, and the watcher that decides about them.
struct Watching {
  ReplicaWatch watch;
  ReplicaWatcher* watcher = nullptr;
  bool any() const { return watcher && watch.any(); }
};

/// A replica whose calls are watched.
struct WatchedReplica {
  uint64_t number = 0;  // its number at ReplicaOutput
  engine::ReplicaKey key;
  Watching watching;
  FileId out;  // the pipe that is its stdout
  FileId err;  // the pipe that is its stderr
};

/// Runs a thread for each living watched replica. Any thread may call.
class WatchedReplicas {
 public:
  /// `output` must outlive this.
  WatchedReplicas(ReplicaOutput& output, Interposition::Kind interposition)
      : output_(output), interposition_(interposition) {}
  WatchedReplicas(const WatchedReplicas&) = delete;
  WatchedReplicas& operator=(const WatchedReplicas&) = delete;
  /// The processes of all replicas must be dead, or about to be.
  ~WatchedReplicas();

  /// Prepares for a replica that is about to be launched with these pipes as stdout and stderr.
  /// Returns the calls that the launcher must watch (launcher/protocol.h), and adds variables and
  /// files of the machine to the launch. `socket`: where a library on a machine would find caip.
  /// Each replica needs a call of Finish, also after an Error.
  Result<uint32_t> Admit(uint64_t number, const Watching& watching, engine::ReplicaLaunch& launch,
                         int out, int err, const std::optional<WatchSocket>& socket);
  /// Begins to answer the replica's calls. `init` is the ancestor of its processes, whose file
  /// system they see. 0: the calls wait until NoteStarted names it.
  void Listen(uint64_t number, std::unique_ptr<CallSource> calls, pid_t init);
  void NoteStarted(uint64_t number, pid_t init);
  /// Reports to the watcher that the replica's processes are dead, also if it has not started or if
  /// its thread has ended, and calls `done` when the watcher is no longer busy with it. For an
  /// unknown replica it only calls `done`.
  void Finish(uint64_t number, std::function<void()> done);

 private:
  struct Entry {
    WatchedReplica replica;
    std::unique_ptr<CallSource> calls;
    pid_t init = 0;              // 0: not known yet
    bool is_ending = false;      // also if it has never started
    std::thread thread;          // none before Listen, and none after its end
    std::function<void()> done;  // set by Finish
  };
  pid_t AwaitInit(const Entry& entry);
  void End(Entry& entry);
  void Serve(Entry& entry);
  void EndServing(uint64_t number);
  void JoinEnded();

  ReplicaOutput& output_;
  const Interposition::Kind interposition_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Entry> entries_;
  std::vector<std::thread> ended_threads_;  // threads that are about to end
};

/// Handles the writes of a watched replica to stdout and stderr, in lock-step with the log: passes
/// the bytes to the log, reports to the watcher, and only then lets the write return. Used by the
/// replica's own thread. The arguments must outlive it.
class WatchedOutput {
 public:
  WatchedOutput(const WatchedReplica& replica, ReplicaOutput& output, ReplicaWatcher& watcher)
      : replica_(replica), output_(output), watcher_(watcher) {}

  Handled Handle(const WatchedCall& call);
  /// Whether the call is a write to stdout or stderr.
  bool Takes(const WatchedCall& call) const { return StreamOf(call).has_value(); }

 private:
  /// The stream to which the call writes.
  std::optional<host::OutputStream> StreamOf(const WatchedCall& call) const;
  /// The stream of the descriptor in an argument of the call.
  std::optional<host::OutputStream> StreamOf(const WatchedCall& call, int argument) const;
  Handled Write(const WatchedCall& call, host::OutputStream stream);
  Handled AnswerWrite(const WatchedCall& call, int64_t taken);

  const WatchedReplica& replica_;
  ReplicaOutput& output_;
  ReplicaWatcher& watcher_;
};

}  // namespace caip::host
