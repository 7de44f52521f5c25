#include "base/random.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string_view>

#include "base/hash.h"

namespace caip {

uint64_t Random::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

uint64_t Random::Below(uint64_t bound) {
  // The wide product maps 2^64 values onto `bound` with a negligible bias.
  return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double Random::Normal() {
  const double u = 1.0 - Unit();  // in (0, 1], so that the logarithm is finite
  const double v = Unit();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::string Random::Hex(int digits) {
  std::string text;
  while (digits-- > 0) text += "0123456789abcdef"[Below(16)];
  return text;
}

Random Random::Fork(std::string_view purpose) const {
  Random forked(Fnv1a(purpose, kFnvStart ^ state_));
  forked.Next();
  return forked;
}

uint64_t SeedFromSystem() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32 | device()) >> 11;  // fits a JSON number exactly
}

}  // namespace caip
