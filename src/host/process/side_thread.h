#pragma once
// A thread beside the engine's, for what takes long and touches nothing.

#include <functional>
#include <utility>

#include "engine/thinker.h"
#include "host/process/note_queue.h"

namespace caip::host {

/// Does one piece of work after the other, in their order. The destructor waits for the one that is
/// being done; the others are dropped.
class SideThread final : public engine::Thinker {
 public:
  SideThread() { queue_.Start(); }
  void Do(std::function<void()> work) override { queue_.Leave(std::move(work)); }  // any thread

 private:
  NoteQueue queue_;
};

}  // namespace caip::host
