#pragma once
// Lets long work of a thread stop once nobody needs its result.

#include <chrono>
#include <functional>

namespace caip {

/// While it exists, IsWorkAbandoned() of the same thread asks `is_abandoned`. One at a time for a
/// thread.
class AbandonableWork {
 public:
  explicit AbandonableWork(std::function<bool()> is_abandoned);
  AbandonableWork(const AbandonableWork&) = delete;
  AbandonableWork& operator=(const AbandonableWork&) = delete;
  ~AbandonableWork();

 private:
  std::function<bool()> is_abandoned_;
};

/// True if the client that this thread works for has gone. False on a thread that works for no
/// client. Costs about a system call: ask a few thousand times a second at most.
bool IsWorkAbandoned();

/// How often a thread that waits for something else asks whether its client has gone.
inline constexpr std::chrono::milliseconds kClientCheckInterval{500};

}  // namespace caip
