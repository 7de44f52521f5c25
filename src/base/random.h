#pragma once
// The only die. Same seed, same throws, on every machine and standard library.

#include <cstdint>
#include <string>
#include <string_view>

namespace caip {

/// A seeded generator (splitmix64). Not for secrets. One owner, one thread.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  /// Evenly in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound);
  /// Evenly in [0, 1).
  double Unit();
  /// Normal with mean 0 and deviation 1.
  double Normal();
  /// `digits` lower-case hexadecimal digits.
  std::string Hex(int digits);
  /// A generator of its own for a named purpose: what one draws does not move another's throws.
  Random Fork(std::string_view purpose) const;

 private:
  uint64_t state_;
};

/// A seed from the system, for runs that were given none; it is printed, so that they can be
/// redone.
uint64_t SeedFromSystem();

}  // namespace caip
