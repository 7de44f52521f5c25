#pragma once
// Work that others leave for one thread.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace caip::host {

/// Notes are worked off in the order in which they were left, on a thread of the queue's own.
class NoteQueue {
 public:
  NoteQueue() = default;
  NoteQueue(const NoteQueue&) = delete;
  NoteQueue& operator=(const NoteQueue&) = delete;
  ~NoteQueue() { Stop(); }

  void Start();
  /// Any thread.
  void Leave(std::function<void()> note);
  /// Notes that are left over are forgotten. Returns when none is being worked on.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> notes_;  // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread worker_;
};

}  // namespace caip::host
