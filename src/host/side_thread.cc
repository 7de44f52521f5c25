#include "host/side_thread.h"

#include <utility>

namespace caip::host {

SideThread::SideThread() : thread_([this] { Loop(); }) {}

SideThread::~SideThread() {
  {
    std::deque<std::function<void()>> dropped;  // not under the lock: they may own anything
    std::lock_guard lock(mutex_);
    ending_ = true;
    dropped.swap(works_);
  }
  changed_.notify_one();
  thread_.join();
}

void SideThread::Do(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    works_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void SideThread::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !works_.empty(); });
    if (ending_) return;
    const std::function<void()> work = std::move(works_.front());
    works_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace caip::host
