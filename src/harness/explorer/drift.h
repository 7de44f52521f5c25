#pragma once
// Small differences of numbers: a resumed training adds the same numbers in another order.

#include "base/json_fwd.h"

namespace caip::harness {

/// Numbers whose difference is a larger part of them do not drift. Single precision has a tenth of
/// a millionth.
inline constexpr double kDriftMax = 1e-5;

/// Whether the values differ, and only in fractions that are nearly equal. Whole numbers, texts and
/// the structure must be the same.
bool IsDrift(const Json& a, const Json& b);

}  // namespace caip::harness
