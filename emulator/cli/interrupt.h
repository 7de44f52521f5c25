#pragma once
// Ctrl-C and SIGTERM as a flag that may be asked, and a descriptor that may be waited for.

namespace caip::cli {

/// From its making to its end, SIGINT and SIGTERM set a flag instead of ending the process. One at
/// a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
  /// Readable once interrupted; for poll.
  int descriptor() const;
};

}  // namespace caip::cli
