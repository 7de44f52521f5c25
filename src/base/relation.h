#pragma once
// The order relations of the filter languages (job lists, log entries).

namespace caip {

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

/// Whether `op` asks for an order: <, <=, > or >=.
template <typename Operator>
bool IsOrder(Operator op) {
  return op == Operator::kLess || op == Operator::kLessEqual || op == Operator::kGreater ||
         op == Operator::kGreaterEqual;
}

}  // namespace caip
