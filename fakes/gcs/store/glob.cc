#include "fakes/gcs/store/glob.h"

#include <algorithm>

#include "base/text.h"

namespace caip::gcs {
namespace {

constexpr size_t kPatternBytesMax = 1024;
constexpr std::string_view kSpecial = "*?[{\\";

// The position after the bracket that ends the set at `at`; npos if the set does not end.
size_t EndOfSet(std::string_view pattern, size_t at) {
  size_t first = at + 1;
  if (first < pattern.size() && (pattern[first] == '!' || pattern[first] == '^')) ++first;
  const size_t end = pattern.find(']', first + 1);  // a leading bracket belongs to the set
  return end == std::string_view::npos ? end : end + 1;
}

}  // namespace

std::optional<std::string> Glob::Problem(std::string_view pattern) {
  if (pattern.size() > kPatternBytesMax) return "it may have 1024 bytes at most";
  if (!IsUtf8(pattern)) return "it is not UTF-8";
  int depth = 0;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\' && ++at == pattern.size()) return "it ends in a backslash";
    if (pattern[at] == '[') {
      at = EndOfSet(pattern, at);
      if (at == std::string_view::npos) return "a '[' has no ']'";
      --at;
    } else if (pattern[at] == '{') {
      if (++depth > 1) return "braces within braces are not allowed";
    } else if (pattern[at] == '}' && depth > 0) {
      --depth;
    }
  }
  if (depth > 0) return "a '{' has no '}'";
  return std::nullopt;
}

Glob::Glob(std::string_view pattern)
    : literal_prefix_(pattern.substr(0, pattern.find_first_of(kSpecial))) {
  Compile(DecodeUtf8(pattern));
  steps_.push_back({Step::Kind::kEnd});
}

// Reads [abc], [a-z] and [!a-z]; returns the position after it.
size_t Glob::CompileSet(std::u32string_view pattern, size_t at) {
  size_t i = at + 1;
  Step step{Step::Kind::kSet};
  if (pattern[i] == U'!' || pattern[i] == U'^') {
    step.negated = true;
    ++i;
  }
  const size_t end = pattern.find(U']', i + 1);  // a leading bracket belongs to the set
  for (; i < end; ++i) {
    const bool range = i + 2 < end && pattern[i + 1] == U'-';
    step.set.push_back({pattern[i], range ? pattern[i + 2] : pattern[i]});
    if (range) i += 2;
  }
  steps_.push_back(std::move(step));
  return end + 1;
}

// Alternatives become a fork to the start of each, and a jump from the end of each past all of
// them.
void Glob::Compile(std::u32string_view pattern) {
  constexpr size_t kNone = std::u32string_view::npos;
  size_t fork = kNone;
  std::vector<size_t> jumps;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char32_t c = pattern[at];
    if (pattern.substr(at).starts_with(U"**/") && (at == 0 || pattern[at - 1] == U'/')) {
      // ** also matches no folder at all.
      const size_t begin = steps_.size();
      steps_.push_back({Step::Kind::kFork, {}, false, {begin + 1, begin + 3}});
      steps_.push_back({Step::Kind::kRunAny});
      steps_.push_back({Step::Kind::kPoint, {{U'/', U'/'}}});
      at += 2;
    } else if (c == U'*') {
      const bool twice = pattern.substr(at).starts_with(U"**");
      steps_.push_back({twice ? Step::Kind::kRunAny : Step::Kind::kRunNoSlash});
      while (at + 1 < pattern.size() && pattern[at + 1] == U'*') ++at;
    } else if (c == U'?') {
      steps_.push_back({Step::Kind::kNoSlash});
    } else if (c == U'[') {
      at = CompileSet(pattern, at) - 1;
    } else if (c == U'{') {
      fork = steps_.size();
      steps_.push_back({Step::Kind::kFork, {}, false, {fork + 1}});
    } else if (fork != kNone && (c == U',' || c == U'}')) {
      jumps.push_back(steps_.size());
      steps_.push_back({Step::Kind::kJump});
      if (c == U',') {
        steps_[fork].to.push_back(steps_.size());
      } else {
        for (const size_t jump : jumps) steps_[jump].to = {steps_.size()};
        jumps.clear();
        fork = kNone;
      }
    } else {
      if (c == U'\\') ++at;
      steps_.push_back({Step::Kind::kPoint, {{pattern[at], pattern[at]}}});
    }
  }
}

void Glob::Enter(size_t step, std::vector<bool>& states) const {
  if (states[step]) return;
  states[step] = true;
  const Step::Kind kind = steps_[step].kind;
  for (const size_t next : steps_[step].to) Enter(next, states);
  if (kind == Step::Kind::kRunAny || kind == Step::Kind::kRunNoSlash) Enter(step + 1, states);
}

bool Glob::Fits(const Step& step, char32_t c) {
  const auto is_in = [c](const Range& range) { return range.first <= c && c <= range.last; };
  const bool in_set = std::any_of(step.set.begin(), step.set.end(), is_in);
  switch (step.kind) {
    case Step::Kind::kPoint:
      return in_set;
    case Step::Kind::kSet:
      return c != U'/' && in_set != step.negated;
    case Step::Kind::kNoSlash:
    case Step::Kind::kRunNoSlash:
      return c != U'/';
    case Step::Kind::kRunAny:
      return true;
    default:
      return false;
  }
}

bool Glob::Matches(std::string_view name) const {
  std::vector<bool> states(steps_.size());
  Enter(0, states);
  for (const char32_t c : DecodeUtf8(name)) {
    std::vector<bool> next(steps_.size());
    bool any = false;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!states[i] || !Fits(steps_[i], c)) continue;
      const bool run =
          steps_[i].kind == Step::Kind::kRunAny || steps_[i].kind == Step::Kind::kRunNoSlash;
      Enter(run ? i : i + 1, next);
      any = true;
    }
    if (!any) return false;
    states = std::move(next);
  }
  return states.back();
}

}  // namespace caip::gcs
