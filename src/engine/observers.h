#pragma once
// The observers of saved jobs.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "run/job.h"

namespace caip::engine {

class Observers;

/// Ends the telling when it goes. Move-only; must not outlive the engine.
class Subscription {
 public:
  Subscription() = default;
  Subscription(Observers* observers, uint64_t number) : observers_(observers), number_(number) {}
  Subscription(Subscription&& other) noexcept;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { End(); }
  void End();

 private:
  Observers* observers_ = nullptr;
  uint64_t number_ = 0;
};

/// Any thread. An observer may neither subscribe nor unsubscribe while it is being called.
class Observers {
 public:
  using Observer = std::function<void(const run::Job& job)>;

  Subscription Add(Observer observer);
  void Remove(uint64_t number);
  bool any() const;
  void Notify(const run::Job& job);

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Observer> observers_;
  uint64_t added_ = 0;
};

}  // namespace caip::engine
