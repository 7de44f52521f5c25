#include "google/labels.h"

#include <algorithm>

#include "google/letters.h"
#include "google/limits.h"

namespace caip::google {
namespace {

bool IsLabelCharacter(char32_t c) {
  return IsLowerOrCaselessLetter(c) || IsNumber(c) || c == '-' || c == '_';
}

}  // namespace

bool IsLabelKey(std::string_view key) {
  const auto points = CodePoints(key);
  return points && !points->empty() && IsLowerOrCaselessLetter(points->front()) &&
         IsLabelValue(key);
}

bool IsLabelValue(std::string_view value) {
  const auto points = CodePoints(value);
  return points && points->size() <= kLabelLengthMax &&
         std::all_of(points->begin(), points->end(), IsLabelCharacter);
}

}  // namespace caip::google
