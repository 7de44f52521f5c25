#include "harness/explorer/start_counters.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "harness/explorer/baseline.h"

namespace caip::harness {
namespace {

// Splits a text into its numbers and the text without them.
std::pair<std::string, std::vector<int64_t>> SplitNumbers(const std::string& text) {
  std::pair<std::string, std::vector<int64_t>> parts;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9' && end - i < 18) ++end;
    if (end > i) {
      parts.second.push_back(std::stoll(text.substr(i, end - i)));
      parts.first += '#';
      i = end - 1;
    } else {
      parts.first += text[i];
    }
  }
  return parts;
}

}  // namespace

bool CountsStarts(const std::string& before, const std::string& after) {
  if (before.size() > 200 || after.size() > 200) return false;
  const auto a = SplitNumbers(before);
  const auto b = SplitNumbers(after);
  if (a.first != b.first || a.second.size() != 1 || b.second.size() != 1) return false;
  return b.second.front() == a.second.front() + 1;
}

bool CountsSecondStart(const std::string& once, const std::string& twice) {
  if (CountsStarts(once, twice)) return true;
  const auto a = SplitNumbers(once);
  const auto b = SplitNumbers(twice);
  if (a.first != b.first || a.second.size() != b.second.size()) return false;
  int differ = 0;
  for (size_t i = 0; i < a.second.size(); ++i) {
    if (a.second[i] == b.second[i]) continue;
    ++differ;
    if (a.second[i] > 1 || b.second[i] != a.second[i] + 1) return false;
  }
  return differ == 1;
}

std::set<std::string> RenamedPatterns(const Evidence& baseline, const Evidence& run) {
  std::map<std::string, int64_t> balance;
  std::map<std::string, int64_t> missing;
  for (const auto& [name, object] : baseline.objects) {
    if (run.objects.contains(name)) continue;
    --balance[WithoutNumbers(name)];
    ++missing[WithoutNumbers(name)];
  }
  for (const auto& [name, object] : run.objects) {
    if (!baseline.objects.contains(name)) ++balance[WithoutNumbers(name)];
  }
  std::set<std::string> renamed;
  for (const auto& [pattern, count] : balance) {
    if (count == 0 && missing[pattern] > 0) renamed.insert(pattern);
  }
  return renamed;
}

}  // namespace caip::harness
