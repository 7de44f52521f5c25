#pragma once
// The only source of randomness. The same seed gives the same numbers on every host.

#include <cstdint>
#include <string>
#include <string_view>

namespace caip {

/// A seeded generator (splitmix64), not for secrets. One thread owns it.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  /// Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound);
  /// Uniform in [0, 1).
  double Unit();
  /// Normal with mean 0 and standard deviation 1.
  double Normal();
  /// `digits` lower-case hexadecimal digits.
  std::string Hex(int digits);
  /// A separate generator for a named purpose: drawing from one does not change another's numbers.
  Random Fork(std::string_view purpose) const;

 private:
  uint64_t state_;
};

/// A seed from the system, for runs without a given seed. The run prints it, so that it can be
/// repeated.
uint64_t SeedFromSystem();

}  // namespace caip
