#pragma once
// What caip and caip-launcher say to each other over a Unix SOCK_SEQPACKET socket. Both are built
// from the same sources, so the messages are plain structs.
//
//   caip -> launcher   Command, for kLaunch with three descriptors: the recipe (a sealed memory
//                      file, recipe.h), the write ends of stdout and stderr
//   launcher -> caip   Report; exactly one kEnded or kStartFailed for each kLaunch; one kFrozen
//                      for a kFreeze of a replica that lives; kWatched before kStarted, with the
//                      descriptor on which its calls are heard, if it is watched

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace caip::host::launcher {

inline constexpr int kSocket = 3;  // the launcher finds its end of the socket here

struct Command {
  enum Kind : uint32_t { kLaunch, kSignal, kKill, kFreeze, kThaw };
  Kind kind = kLaunch;
  int32_t signal = 0;  // kSignal: sent to the replica's main process group
  uint64_t replica = 0;
  uint32_t watch = 0;  // kLaunch
};

/// What of a replica waits for caip's answer (watch_filter.h); bits of Command::watch.
inline constexpr uint32_t kWatchOutput = 1;
inline constexpr uint32_t kWatchFiles = 2;

/// Where a start failed; `error` is the errno.
enum class Step : uint32_t { kNone, kRecipe, kFork, kDirectory, kWatch, kExec };

inline constexpr size_t kLeftBytes = 1024;

struct Report {
  enum Kind : uint32_t { kStarted, kStartFailed, kEnded, kFrozen, kWatched };
  Kind kind = kStarted;
  Step step = Step::kNone;
  int32_t error = 0;
  int32_t wait_status = 0;   // of the leader, as wait(2) gave it
  int32_t left_running = 0;  // processes that outlived the leader by more than a moment
  int32_t leader = 0;        // process id, for people
  int32_t init = 0;          // kWatched: process id of the ancestor of all that are watched
  int64_t max_rss_kib = 0;   // of the leader and the children it waited for
  uint64_t replica = 0;
  char left[kLeftBytes] = {};  // who is counted in left_running: "421 sleep 600\n", as many as fit
};

}  // namespace caip::host::launcher
