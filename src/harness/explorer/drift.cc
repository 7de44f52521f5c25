#include "harness/explorer/drift.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace caip::harness {
namespace {

// Whether the values are equal or nearly so.
bool IsNearlyEqual(const Json& a, const Json& b) {
  if (a == b) return true;
  if (a.is_number() && b.is_number()) {
    if (!a.is_number_float() && !b.is_number_float()) return false;
    const double mine = a.get<double>();
    const double other = b.get<double>();
    const double larger = std::max(std::abs(mine), std::abs(other));
    return std::abs(mine - other) <= larger * kDriftMax;
  }
  if (a.type() != b.type() || !a.is_structured() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), IsNearlyEqual);
  return std::ranges::all_of(a.items(), [&b](const auto& item) {
    const Json* other = Member(b, item.key());
    return other && IsNearlyEqual(item.value(), *other);
  });
}

}  // namespace

bool IsDrift(const Json& a, const Json& b) { return a != b && IsNearlyEqual(a, b); }

}  // namespace caip::harness
