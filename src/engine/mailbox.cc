#include "engine/mailbox.h"

#include <utility>

namespace caip::engine {

bool Mailbox::Post(Message message) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  messages_.push_back(std::move(message));
  clock_->Interrupt();  // under the lock: after Close() the clock may be gone
  return true;
}

std::vector<Message> Mailbox::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

void Mailbox::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace caip::engine
