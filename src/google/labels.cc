#include "google/labels.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string>

#include "base/json.h"
#include "base/text.h"

// letters.json as text; src/google/module.cmake writes the body.
namespace caip::google::embedded {
std::string_view Letters();
}

namespace caip::google {
namespace {

bool IsLabelCharacter(char32_t c) {
  return IsLowerOrCaselessLetter(c) || IsNumber(c) || c == '-' || c == '_';
}

}  // namespace

bool IsLabelKey(std::string_view key) {
  if (!IsLabelValue(key)) return false;
  const std::u32string characters = DecodeUtf8(key);
  const char32_t first = characters.empty() ? U'\0' : characters.front();
  return IsLowerOrCaselessLetter(first);
}

bool IsLabelValue(std::string_view value) {
  if (!IsUtf8(value)) return false;
  const std::u32string characters = DecodeUtf8(value);
  return characters.size() <= kLabelLengthMax &&
         std::all_of(characters.begin(), characters.end(), IsLabelCharacter);
}

namespace {

// Characters first, first + step, ..., last.
struct Run {
  char32_t first = 0;
  char32_t last = 0;
  char32_t step = 1;
};

struct Tables {
  std::vector<Run> letters;
  std::vector<Run> numbers;
};

char32_t TakeHex(std::string_view& text) {
  uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  assert(code == std::errc());
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "df-f6", "101-137/2" or "f8".
Run ParseRun(std::string_view text) {
  Run run;
  run.first = run.last = TakeHex(text);
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    run.last = TakeHex(text);
  }
  if (text == "/2") run.step = 2;
  return run;
}

std::vector<Run> ParseRuns(const Json* lines) {
  std::vector<Run> runs;
  assert(lines != nullptr);
  for (const Json& line : *lines) {
    for (const std::string& word : Split(line.get<std::string>(), ' ')) {
      runs.push_back(ParseRun(word));
    }
  }
  return runs;
}

const Tables& LetterTables() {
  static const Tables* const tables = [] {
    const Result<Json> document = ParseJson(embedded::Letters());
    assert(document.ok());
    return new Tables{ParseRuns(Member(*document, "lower_or_caseless")),
                      ParseRuns(Member(*document, "numbers"))};
  }();
  return *tables;
}

bool Holds(const std::vector<Run>& runs, char32_t c) {
  const auto after = std::upper_bound(runs.begin(), runs.end(), c,
                                      [](char32_t value, const Run& r) { return value < r.first; });
  if (after == runs.begin()) return false;
  const Run& run = *std::prev(after);
  return c <= run.last && (c - run.first) % run.step == 0;
}

}  // namespace

bool IsLowerOrCaselessLetter(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return Holds(LetterTables().letters, c);
}

bool IsNumber(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return Holds(LetterTables().numbers, c);
}

}  // namespace caip::google
