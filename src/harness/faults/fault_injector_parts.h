#pragma once
// The director's own: a fault with its counts, and what a fault sees of the run.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/faults/fault_injector.h"

namespace caip::harness {

/// A fault, its counts, and who waits for its end.
struct Director::Plot {
  Plot(Fault f, Random random)
      : fault(std::move(f)), when(fault.when, fault.replica, random.Fork("when")) {
    if (fault.until) until.emplace(*fault.until, "any", random.Fork("until"));
  }
  Fault fault;
  TriggerCount when;
  std::optional<TriggerCount> until;
  FaultTally tally;
  bool over = false;   // its `until` has come, may be before it struck
  bool armed = false;  // struck, and not over
  std::vector<std::function<void()>> when_over;
};

class Director::ScenePart final : public FaultContext {
 public:
  ScenePart(Director& director, size_t plot) : director_(director), plot_(plot) {}

  RunControl& run() override { return *director_.world_; }
  void WaitForEndOfBoot(const std::string& replica) override {
    std::unique_lock lock(director_.mutex_);
    const int boot = director_.booted_[replica];
    director_.changed_.wait(lock, [&] {
      return director_.ended_ || director_.live_[replica] == 0 ||
             director_.booted_[replica] != boot || director_.gone_[replica] == boot;
    });
  }
  void WaitForUntil() override {
    std::unique_lock lock(director_.mutex_);
    const Plot& plot = *director_.plots_[plot_];
    director_.changed_.wait(lock, [&] { return director_.ended_ || !plot.armed; });
  }
  void After(Duration time, std::function<void()> then) override {
    director_.Leave([this_director = &director_, time, then = std::move(then)] {
      std::unique_lock lock(this_director->mutex_);
      this_director->changed_.wait_for(lock, time, [&] { return this_director->ended_; });
      lock.unlock();
      then();
    });
  }
  void WhenUntilComes(std::function<void()> then) override {
    {
      const std::lock_guard lock(director_.mutex_);
      Plot& plot = *director_.plots_[plot_];
      if (plot.armed && !director_.ended_) {  // behind the end nobody calls it any more
        plot.when_over.push_back(std::move(then));
        return;
      }
    }
    then();
  }
  void Pause(Duration time) override {
    std::unique_lock lock(director_.mutex_);
    director_.changed_.wait_for(lock, time, [&] { return director_.ended_; });
  }

 private:
  Director& director_;
  size_t plot_;
};

}  // namespace caip::harness
