#pragma once
// Where other threads put what the engine's thread is to do, in the order in which it came.

#include <functional>
#include <mutex>
#include <variant>
#include <vector>

#include "engine/events.h"

namespace caip::engine {

/// Something happened to a run.
struct RunEvent {
  RunKey run;
  Event event;
};
/// Somebody asks; it is called on the engine's thread.
using Call = std::function<void()>;
using Message = std::variant<RunEvent, Call>;

/// Shared by the engine and by the callbacks it gave to ports: these may come late.
class Mailbox {
 public:
  explicit Mailbox(Clock& clock) : clock_(&clock) {}

  /// Wakes the engine. False once the mailbox is closed: the message is dropped.
  bool Post(Message message);
  std::vector<Message> Take();
  void Close();

 private:
  std::mutex mutex_;
  std::vector<Message> messages_;
  Clock* clock_;
  bool closed_ = false;
};

}  // namespace caip::engine
