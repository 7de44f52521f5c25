#pragma once
// What may be a job's id: ^[A-Za-z][A-Za-z0-9_]{0,127}$. Hyphens are illegal.

#include <string_view>

#include "ml/limits.h"

namespace caip::ml {

constexpr bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsJobId(std::string_view id) {
  if (id.empty() || id.size() > kJobIdLengthMax || !IsAsciiLetter(id.front())) return false;
  for (const char c : id) {
    if (!IsAsciiLetter(c) && !IsAsciiDigit(c) && c != '_') return false;
  }
  return true;
}

static_assert(IsJobId("census_20200101_01"));
static_assert(!IsJobId("9lives"));
static_assert(!IsJobId("no-dashes"));

}  // namespace caip::ml
