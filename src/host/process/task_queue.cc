#include "host/process/task_queue.h"

#include <utility>

namespace caip::host {

void TaskQueue::Start() {
  worker_ = std::thread([this] { Work(); });
}

void TaskQueue::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void TaskQueue::Stop() {
  {
    std::deque<std::function<void()>> dropped;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void TaskQueue::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace caip::host
