#pragma once
// Times in filters: a whole RFC 3339 time, or the beginning of one.

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace caip {

/// A span of time that includes `first` and excludes `end`.
struct Period {
  Instant first;
  Instant end;
};

/// Parses a time as a period. "2020", "2020-03", "2020-03-01", "2020-03-01T12" and
/// "2020-03-01T12:30" mean that whole year, month, day, hour or minute. Hours and minutes may have
/// an offset ("2020-03-01T12:30Z"). A time with seconds lasts `whole_time`. Without an offset it is
/// in UTC. A time that an Instant cannot hold becomes the first or the last nanosecond that it can
/// hold. nullopt for other texts. (AIP-160, "Comparison operators": timestamps)
std::optional<Period> ParsePeriod(std::string_view text, Duration whole_time);

// The order relations of the filter languages (job lists, log entries).

/// Whether `left op right` holds. `Operator` is an enum of a filter language; its operators besides
/// the five below compare for equality.
template <typename Operator, typename T>
bool Holds(const T& left, Operator op, const T& right) {
  switch (op) {
    case Operator::kUnequal:
      return left != right;
    case Operator::kLess:
      return left < right;
    case Operator::kLessEqual:
      return left <= right;
    case Operator::kGreater:
      return left > right;
    case Operator::kGreaterEqual:
      return left >= right;
    default:
      return left == right;
  }
}

/// Whether `op` compares by order: <, <=, > or >=.
template <typename Operator>
bool IsOrder(Operator op) {
  return op == Operator::kLess || op == Operator::kLessEqual || op == Operator::kGreater ||
         op == Operator::kGreaterEqual;
}

}  // namespace caip
