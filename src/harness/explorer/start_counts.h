#pragma once
// Whether a difference after a restart may be a count of the job's starts.

#include <cstddef>
#include <string_view>

namespace caip::harness {

/// How the contents of an object differ from those of a run with one start. One rule for all forms.
/// In JSON and texts, these cannot count starts: numbers with a fraction that differ by more than
/// drift, and whole numbers for which MayCountStarts is false. In other bytes: differences in more
/// places than a count, a time and the checksums of both. JSON that is cut short counts nothing.
struct ValueDifference {
  bool has_others = false;  // something cannot count starts
  bool may_count = false;   // something else may: a count, words, further elements
};

/// `once` comes from a run without a restart. `starts`: the starts of all its replicas. `restarts`:
/// those in the run that `other` comes from.
ValueDifference FindValueDifference(std::string_view once, std::string_view other, size_t starts,
                                    size_t restarts = 1);

/// Whether a whole number that is `once` in a run with so many starts may count them, or be a time:
/// one that is not above `starts` and grows, or one that each of `restarts` makes one less, or
/// leaves alone. Such are the starts of all replicas, the last start (-1: none), a flag of the
/// first start, and the restarts that are left.
bool MayCountStarts(double once, double other, size_t starts, size_t restarts = 1);

}  // namespace caip::harness
