#include "host/process/note_queue.h"

#include <utility>

namespace caip::host {

void NoteQueue::Start() {
  worker_ = std::thread([this] { Work(); });
}

void NoteQueue::Leave(std::function<void()> note) {
  {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(note));
  }
  changed_.notify_all();
}

void NoteQueue::Stop() {
  {
    std::deque<std::function<void()>> dropped;  // not under the lock: they may own anything
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(notes_);
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void NoteQueue::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !notes_.empty(); });
    if (stopping_) return;
    const std::function<void()> note = std::move(notes_.front());
    notes_.pop_front();
    lock.unlock();
    note();
    lock.lock();
  }
}

}  // namespace caip::host
