#pragma once
// A thread beside the engine's, for what takes long and touches nothing.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/thinker.h"

namespace caip::host {

/// Does one piece of work after the other, in their order. The destructor waits for the one that is
/// being done; the others are dropped.
class SideThread final : public engine::Thinker {
 public:
  SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  ~SideThread() override;

  void Do(std::function<void()> work) override;  // any thread

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> works_;
  bool ending_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace caip::host
