#pragma once
// The replicas that a launcher has started and whose exit it has not reported.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "host/abilities.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

struct LiveReplica {
  engine::ReplicaKey key;
  engine::Launcher::Listener listener;
  std::string program;
  std::string directory;
  std::string task;                                  // its name in the log
  std::string image = {};                            // the name of the image that it runs; "": none
  bool is_machine = false;                           // a process of this host, else
  ReplicaWatcher* watcher = nullptr;                 // null: the replica is not watched
  std::deque<std::function<void()>> on_frozen = {};  // one for each pending freeze
  int64_t oom_kills = 0;                             // count when the replica was started
  bool was_killed = false;                           // the launcher ended it
  std::optional<LivingReplica> living = {};          // set when it has started
  bool is_ending = false;
};

/// Numbers each start of a replica. Any thread.
class LiveReplicas {
 public:
  /// Returns the number of this start, counted from 1.
  uint64_t Enter(LiveReplica replica);
  /// The number of a living replica; 0 if it has ended. `to_kill` records that the launcher ends
  /// it.
  uint64_t NumberOf(const engine::ReplicaKey& key, bool to_kill);
  /// nullopt if the replica is ending or has ended.
  std::optional<LiveReplica> Find(uint64_t number) const;
  std::vector<std::pair<uint64_t, engine::ReplicaKey>> All() const;
  void NoteStarted(uint64_t number, LivingReplica living);
  /// Those of a job that have started and are not ending.
  std::vector<LivingReplica> LivingOf(const std::string& project, const std::string& job_id) const;

  /// Keeps a callback for the next complete freeze. False if the replica has ended.
  bool AwaitFrozen(uint64_t number, std::function<void()> frozen);
  /// Calls the oldest of these callbacks.
  void ReportFrozen(uint64_t number);

  /// False if the replica has ended, or its end began earlier.
  bool BeginEnd(uint64_t number);
  LiveReplica Remove(uint64_t number);

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, LiveReplica> replicas_;        // guarded by mutex_
  std::map<engine::ReplicaKey, uint64_t> numbers_;  // guarded by mutex_
  uint64_t last_number_ = 0;                        // guarded by mutex_
};

}  // namespace caip::host
