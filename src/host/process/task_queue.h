#pragma once
// A queue of tasks that any thread may post and one worker thread runs.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/ports.h"

namespace caip::host {

/// Runs its tasks in the order in which they were posted, on a worker thread of its own.
class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  ~TaskQueue() { Stop(); }

  void Start();
  /// Any thread.
  void Post(std::function<void()> task);
  /// Drops the tasks that have not begun. Returns when none is running.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread worker_;
};

/// A worker thread for tasks that take too long for the engine's thread and use none of its data.
/// It starts with the first task. The destructor waits for the running task and drops the others.
class WorkerThread final : public engine::Executor {
 public:
  void Do(std::function<void()> work) override {  // any thread
    std::call_once(started_, [this] { queue_.Start(); });
    queue_.Post(std::move(work));
  }

 private:
  std::once_flag started_;
  TaskQueue queue_;
};

}  // namespace caip::host
