#pragma once
// Replicas whose calls wait for us: hears them and has the watcher decide.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/replica_output.h"
#include "host/replica_watcher.h"
#include "host/watched_call.h"

namespace caip::host {

/// What is to be known of a replica whose calls are watched.
struct WatchedReplica {
  uint64_t number = 0;  // of ReplicaOutput
  engine::ReplicaKey key;
  engine::ReplicaWatch watch;
  FileId out;  // the pipes that are its stdout
  FileId err;  // and its stderr
};

/// A thread for each watched replica that lives. Any thread may call.
class WatchedReplicas {
 public:
  /// Both outlive us.
  WatchedReplicas(ReplicaWatcher& watcher, ReplicaOutput& output)
      : watcher_(watcher), output_(output) {}
  WatchedReplicas(const WatchedReplicas&) = delete;
  WatchedReplicas& operator=(const WatchedReplicas&) = delete;
  /// The processes of all replicas must be dead, or about to be.
  ~WatchedReplicas();

  /// A replica that is about to be launched.
  void Expect(WatchedReplica replica);
  /// Begins to answer its calls, which arrive on `listener`. `init` is the ancestor of its
  /// processes.
  void Listen(uint64_t number, Fd listener, pid_t init);
  /// Its processes are dead: tells the watcher, and calls `done` when the watcher is not busy with
  /// it any more. Of a replica that was not expected it only calls `done`.
  void Finish(uint64_t number, std::function<void()> done);

 private:
  struct Entry {
    WatchedReplica replica;
    Fd listener;
    pid_t init = 0;
    std::thread thread;
    std::function<void()> done;  // set by Finish
  };
  void Serve(Entry& entry);
  void Part(uint64_t number);
  void JoinParted();

  ReplicaWatcher& watcher_;
  ReplicaOutput& output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Entry> entries_;
  std::vector<std::thread> parted_;  // have no more to do than to end
};

}  // namespace caip::host
