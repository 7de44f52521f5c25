#pragma once
// A value, or what went wrong as a text for people. The judge's own: it shares nothing with what it
// judges.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace conform {

/// Why something could not be done, in words that a person can act on. Made in problems.h.
struct Problem {
  std::string text;
};

/// For functions that give nothing back.
struct Done {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT: implicit on purpose
  Result(Problem problem) : state_(std::move(problem)) {}  // NOLINT: implicit on purpose

  bool ok() const { return state_.index() == 0; }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  const Problem& problem() const {
    assert(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Problem> state_;
};

}  // namespace conform
