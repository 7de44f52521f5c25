#pragma once
// Whether a difference after a restart may be a count of the job's starts.

#include <string_view>

namespace caip::harness {

/// How the contents of an object differ from those of a run with one start. One rule for all forms.
/// In JSON and texts, these cannot count starts: numbers with a fraction, and whole numbers that
/// are neither 0 nor 1 in the run with one start, unless they look like times. In other bytes:
/// differences in more places than a count, a time and the checksums of both.
struct ValueDifference {
  bool has_others = false;  // something cannot count starts
  bool may_count = false;   // something else may: a 0 or 1 that grows, words, further elements
};

/// `once` comes from a run with one start.
ValueDifference FindValueDifference(std::string_view once, std::string_view other);

/// Whether a number that is `once` after one start may be the number of starts, or a time.
bool MayCountStarts(double once, double other);

}  // namespace caip::harness
