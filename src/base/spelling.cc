#include "base/spelling.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace caip {
namespace {

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t i = 0; i <= b.size(); ++i) row[i] = i;
  for (size_t k = 0; k < a.size(); ++k) {
    size_t diagonal = std::exchange(row[0], k + 1);
    for (size_t i = 0; i < b.size(); ++i) {
      const size_t replaced = diagonal + (a[k] != b[i]);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, row[i + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view word, const std::vector<std::string>& names) {
  const std::string lower = LowerCase(word.substr(0, 100));
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const size_t distance = Distance(lower, LowerCase(name));
    if (distance >= best) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace caip
