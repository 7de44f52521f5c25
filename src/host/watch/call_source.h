#pragma once
// Where the calls of one watched replica come from, whichever way they are held.

#include <memory>
#include <vector>

#include "base/files.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// A call that has been heard, and its way back.
struct HeardCall {
  CallFacts facts;
  std::unique_ptr<AnswerPath> path;
};

/// One thread, but for End().
class CallSource {
 public:
  virtual ~CallSource() = default;
  /// Waits until a call can be received (`receive`) or the replica's processes are all dead: false.
  virtual bool Wait(bool receive) = 0;
  /// Of the call that is there; null when it has vanished meanwhile.
  virtual std::unique_ptr<HeardCall> Receive() = 0;
  /// The replica's processes are dead, as somebody else knows. Any thread.
  virtual void End() {}
};

}  // namespace caip::host
