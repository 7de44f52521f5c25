#pragma once
// The client processes that use an emulator inside a command.

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// Commands join before they send a request, so that the command with the emulator knows whether it
/// may end it. A join and the end of the emulator exclude each other. Any thread.
class AttachedClients {
 public:
  /// The process uses the emulator until the process ends. `stays`: the emulator must also serve
  /// afterwards (a waiting job, a printed URL). kUnavailable once CloseIfUnused returned true.
  Status Join(pid_t pid, bool stays);

  /// True when every process that joined has ended and `idle` agrees; then no process can join.
  bool CloseIfUnused(const std::function<bool()>& idle);

  /// No process can join any more.
  void Close();

  /// Whether a process joined with `stays`.
  bool stays() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Fd> processes_;  // pidfds
  bool stays_ = false;
  bool closed_ = false;
};

}  // namespace caip::app
