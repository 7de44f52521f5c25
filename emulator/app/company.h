#pragma once
// Who else relies on an emulator that lives inside a command.

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// Commands join before they ask for anything, so that the one whose emulator it is knows whether
/// it may take it away: that, and the end of an idle server, happen at once for all. Any thread.
class Company {
 public:
  /// The process relies on the emulator until it ends; `stays`: what it was given (a job that
  /// waits, a URL) is to be served after that, too. kUnavailable once Part said true.
  Status Join(pid_t pid, bool stays);

  /// True when every process that joined has ended and `idle` agrees; then nobody may join.
  bool Part(const std::function<bool()>& idle);

  /// Nobody may join any more, whoever is here.
  void Close();

  /// Somebody joined who is to be served beyond the end of his process.
  bool stays() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Fd> processes_;  // pidfds
  bool stays_ = false;
  bool closed_ = false;
};

}  // namespace caip::app
