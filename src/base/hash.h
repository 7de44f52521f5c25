#pragma once
// FNV-1a with 64 bits: a fast hash that gives the same number on every host and in every version.
// Stored and shown values depend on it, so it must never change. It is not cryptographic.

#include <cstdint>
#include <string_view>

namespace caip {

inline constexpr uint64_t kFnvStart = 14695981039346656037u;
inline constexpr uint64_t kFnvPrime = 1099511628211u;

/// Continues `hash` with the bytes of `text`.
constexpr uint64_t Fnv1a(std::string_view text, uint64_t hash = kFnvStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

}  // namespace caip
