#pragma once
// Thoughts that take as long as they are told to.

#include <functional>
#include <utility>

#include "engine/thinker.h"
#include "harness/simulation/hand_clock.h"

namespace caip::harness {

/// Thinks on the only thread there is, in the agenda's time. One that is killed with its emulator
/// has its thoughts in the agenda, which is cleared.
class ScriptedThinker final : public engine::Thinker {
 public:
  explicit ScriptedThinker(Agenda& agenda) : agenda_(agenda) {}
  std::function<Duration()> takes = [] { return Duration(0); };

  void Do(std::function<void()> work) override {
    ++thoughts_;
    agenda_.In(takes(), std::move(work));
  }
  size_t thoughts() const { return thoughts_; }

 private:
  Agenda& agenda_;
  size_t thoughts_ = 0;
};

}  // namespace caip::harness
