#pragma once
// Notices when the owner of a state directory comes, serves, or goes.

#include "base/files.h"

namespace caip::app {

/// For those who wait for an owner. One thread.
class OwnerWatch {
 public:
  explicit OwnerWatch(const Path& state);
  /// Returns when the owner's note changed, and after a few milliseconds in any case: the lock
  /// itself, which the kernel takes back, says nothing.
  void WaitForChange() const;

 private:
  Fd notices_;  // inotify
};

}  // namespace caip::app
