#pragma once
// A port of the engine (the others are in ports.h): somebody to think beside its thread.

#include <functional>

namespace caip::engine {

/// Does what takes long and touches nothing but what it was given: choosing the values of trials.
class Thinker {
 public:
  virtual ~Thinker() = default;
  /// Does `work` once, on a thread of its own; where the emulator ends before, perhaps never.
  virtual void Do(std::function<void()> work) = 0;
};

}  // namespace caip::engine
