#include "engine/observers.h"

#include <utility>

namespace caip::engine {

Subscription::Subscription(Subscription&& other) noexcept
    : observers_(std::exchange(other.observers_, nullptr)), number_(other.number_) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    End();
    observers_ = std::exchange(other.observers_, nullptr);
    number_ = other.number_;
  }
  return *this;
}

void Subscription::End() {
  if (observers_) observers_->Remove(number_);
  observers_ = nullptr;
}

Subscription Observers::Add(Observer observer) {
  std::lock_guard lock(mutex_);
  observers_.emplace(++added_, std::move(observer));
  return Subscription(this, added_);
}

void Observers::Remove(uint64_t number) {
  std::lock_guard lock(mutex_);
  observers_.erase(number);
}

bool Observers::any() const {
  std::lock_guard lock(mutex_);
  return !observers_.empty();
}

void Observers::Notify(const run::Job& job) {
  std::lock_guard lock(mutex_);
  for (const auto& [number, observer] : observers_) observer(job);
}

}  // namespace caip::engine
