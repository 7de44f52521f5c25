
#include "fakes/logging/filter/comparison.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/filter_comparison.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/logging/filter/errors.h"

namespace caip::logging {
namespace {

constexpr std::pair<std::string_view, FilterOperator> kOperators[] = {
    {"=", FilterOperator::kEqual},       {"!=", FilterOperator::kUnequal},
    {"<", FilterOperator::kLess},        {"<=", FilterOperator::kLessEqual},
    {">", FilterOperator::kGreater},     {">=", FilterOperator::kGreaterEqual},
    {":", FilterOperator::kHas},         {"=~", FilterOperator::kMatches},
    {"!~", FilterOperator::kMatchesNot},
};

std::optional<double> ParseFiniteNumber(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

// Reads "3.5s", "10ms", "2h" or "1.5" as seconds.
std::optional<double> ParseSeconds(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = ParseFiniteNumber(text.substr(0, text.size() - unit.size()));
    if (number) return *number * seconds;
  }
  return ParseFiniteNumber(text);
}

std::optional<bool> ParseFlag(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

char Folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// The default value of a field that every entry has.
Json DefaultValue(FieldKind kind) {
  switch (kind) {
    case FieldKind::kNumber:
      return 0;
    case FieldKind::kFlag:
      return false;
    case FieldKind::kDuration:
      return "0s";
    case FieldKind::kSeverity:
      return "DEFAULT";
    case FieldKind::kText:
      return "";
    default:
      return nullptr;
  }
}

constexpr size_t kFractionDigitsMax = 9;

// Removes digits below the nanosecond.
std::string TruncateFraction(std::string_view text) {
  std::string shorter(text);
  const size_t point = shorter.find('.');
  if (point == std::string::npos) return shorter;
  const size_t end = std::min(shorter.find_first_not_of("0123456789", point + 1), shorter.size());
  if (end - point - 1 > kFractionDigitsMax)
    shorter.erase(point + 1 + kFractionDigitsMax, end - point - 1 - kFractionDigitsMax);
  return shorter;
}

// ISO 8601 allows offsets without a colon (+0100); google-cloud-logging writes them.
std::string AddColonToOffset(std::string text) {
  constexpr size_t kTime = sizeof("2017-01-15T19:00:00") - 1;
  constexpr size_t kOffset = sizeof("+0100") - 1;
  if (text.size() < kTime + kOffset) return text;
  const size_t sign = text.size() - kOffset;
  const bool is_plain = (text[sign] == '+' || text[sign] == '-') &&
                        text.find_first_not_of("0123456789", sign + 1) == text.npos;
  if (is_plain) text.insert(sign + 3, ":");
  return text;
}

}  // namespace

std::optional<FilterOperator> ParseFilterOperator(std::string_view sign) {
  for (const auto& [text, op] : kOperators) {
    if (text == sign) return op;
  }
  return std::nullopt;
}

std::optional<Period> ParseEntryPeriod(std::string_view text) {
  return ParsePeriod(AddColonToOffset(TruncateFraction(text)), Duration(1));
}

std::string FoldCase(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = Folded(c);
  return folded;
}

std::string ScalarText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : CompactJson(value);
}

bool HasFolded(std::string_view text, std::string_view folded) {
  return std::search(text.begin(), text.end(), folded.begin(), folded.end(),
                     [](char a, char b) { return Folded(a) == b; }) != text.end() ||
         folded.empty();
}

bool HasBelow(const Json& value, std::string_view folded) {
  if (!value.is_structured()) return HasFolded(ScalarText(value), folded);
  return std::any_of(value.begin(), value.end(),
                     [&](const Json& member) { return HasBelow(member, folded); });
}

Result<FilterComparison> FilterComparison::Make(FilterField field, FilterOperator op,
                                                const FilterToken& value) {
  FilterComparison made;
  made.field_ = std::move(field);
  made.op_ = op;
  made.text_ = value.text;
  made.folded_ = FoldCase(value.text);
  const bool is_word = value.kind == FilterToken::Kind::kWord;
  made.tests_presence_ = is_word && value.text == "*" && op == FilterOperator::kHas;
  made.is_null_ = is_word && value.text == "NULL_VALUE";
  if (made.tests_presence_) return made;
  RETURN_IF_ERROR(made.CheckOperator(value));
  RETURN_IF_ERROR(made.ReadValue(value));
  return made;
}

Status FilterComparison::CheckOperator(const FilterToken& value) const {
  const bool is_pattern = op_ == FilterOperator::kMatches || op_ == FilterOperator::kMatchesNot;
  const FieldKind kind = field_.kind;
  const bool is_text = kind == FieldKind::kText || kind == FieldKind::kFree;
  const bool fits = is_pattern                    ? is_text || kind == FieldKind::kSeverity
                    : kind == FieldKind::kFlag    ? !IsOrder(op_)
                    : kind == FieldKind::kMessage ? op_ == FilterOperator::kHas
                                                  : true;
  if (fits) return Ok{};
  return errors::FilterOperatorMisfit(value.place, Join(field_.path, "."));
}

Status FilterComparison::ReadValue(const FilterToken& value) {
  if (op_ == FilterOperator::kMatches || op_ == FilterOperator::kMatchesNot) {
    return ReadPattern(value);
  }
  flag_ = ParseFlag(text_);
  std::optional<double> number = ParseFiniteNumber(text_);
  const char* wanted = nullptr;
  if (field_.kind == FieldKind::kTime) return ReadTime(value);
  if (field_.kind == FieldKind::kDuration && !(number = ParseSeconds(text_))) wanted = "a duration";
  if (field_.kind == FieldKind::kNumber && !number) wanted = "a number";
  if (field_.kind == FieldKind::kFlag && !flag_) wanted = "true or false";
  if (field_.kind == FieldKind::kSeverity) {
    const auto severity = SeverityNumber(text_);
    if (!severity) wanted = "a severity (DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, ...)";
    number = severity.value_or(0);
  }
  if (wanted) {
    return errors::FilterValueMisfit(value.place, Join(field_.path, "."), text_, wanted);
  }
  is_number_ = number.has_value();
  number_ = number.value_or(0);
  return Ok{};
}

Status FilterComparison::ReadPattern(const FilterToken& value) {
  const auto pattern = TextPattern::Compile(text_);
  if (!pattern.ok()) {
    return errors::FilterPatternBroken(value.place, text_, pattern.error().message);
  }
  pattern_ = *pattern;
  return Ok{};
}

Status FilterComparison::ReadTime(const FilterToken& value) {
  const auto period = ParseEntryPeriod(text_);
  if (!period) {
    return errors::FilterValueMisfit(value.place, Join(field_.path, "."), text_,
                                     "a time in RFC 3339 format");
  }
  period_ = *period;
  return Ok{};
}

bool FilterComparison::Matches(const Json& entry) const { return MatchesAt(entry, 0); }

// A list matches if any element does.
bool FilterComparison::MatchesAt(const Json& value, size_t depth) const {
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(),
                       [&](const Json& element) { return MatchesAt(element, depth); });
  }
  if (depth == field_.path.size()) return tests_presence_ || MatchesValue(value);
  const Json* member = Member(value, field_.path[depth]);
  if (member) return MatchesAt(*member, depth + 1);
  const bool has_default = field_.kind != FieldKind::kFree && field_.kind != FieldKind::kMessage &&
                           field_.kind != FieldKind::kTime;
  return has_default && !tests_presence_ && MatchesValue(DefaultValue(field_.kind));
}

bool FilterComparison::MatchesValue(const Json& value) const {
  switch (field_.kind) {
    case FieldKind::kMessage:
      return value.contains(text_) || HasBelow(value, folded_);
    case FieldKind::kTime:
      return value.is_string() && MatchesTime(value.get_ref<const std::string&>());
    case FieldKind::kSeverity:
      if (pattern_) return MatchesText(ScalarText(value));
      return MatchesNumber(SeverityNumber(ScalarText(value)).value_or(0));
    case FieldKind::kDuration:
      return MatchesNumber(ParseSeconds(ScalarText(value)).value_or(0));
    case FieldKind::kNumber: {
      const auto number = ParseFiniteNumber(ScalarText(value));
      return number && MatchesNumber(*number);
    }
    case FieldKind::kFlag:
      return MatchesFlag(value.is_boolean() && value.get<bool>());
    default:
      return MatchesFree(value);
  }
}

bool FilterComparison::MatchesFree(const Json& value) const {
  if (value.is_null() || is_null_) {
    return is_null_ &&
           (value.is_null() ? op_ == FilterOperator::kEqual : op_ == FilterOperator::kUnequal);
  }
  if (value.is_string()) return MatchesText(value.get_ref<const std::string&>());
  if (pattern_) return !value.is_structured() && MatchesText(ScalarText(value));
  if (value.is_structured()) return op_ == FilterOperator::kHas && HasBelow(value, folded_);
  if (op_ == FilterOperator::kHas) return HasFolded(ScalarText(value), folded_);
  if (value.is_boolean()) return MatchesFlag(value.get<bool>());
  return is_number_ && MatchesNumber(value.get<double>());
}

bool FilterComparison::MatchesText(std::string_view text) const {
  if (pattern_) return pattern_->IsIn(text) == (op_ == FilterOperator::kMatches);
  if (op_ == FilterOperator::kHas) return HasFolded(text, folded_);
  return Holds(FoldCase(text), op_, folded_);
}

bool FilterComparison::MatchesNumber(double number) const { return Holds(number, op_, number_); }

bool FilterComparison::MatchesFlag(bool flag) const {
  if (!flag_ || IsOrder(op_)) return false;
  return (flag == *flag_) == (op_ != FilterOperator::kUnequal);
}

bool FilterComparison::MatchesTime(std::string_view text) const {
  const auto time = ParseRfc3339(text);
  if (!time) return false;
  const bool is_within = *time >= period_.first && *time < period_.end;
  if (op_ == FilterOperator::kEqual || op_ == FilterOperator::kHas) return is_within;
  if (op_ == FilterOperator::kUnequal) return !is_within;
  return Holds(*time, op_, period_.first);
}

namespace {

constexpr int64_t kPatternBytesMax = 1 << 20;

RE2::Options Settings() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternBytesMax);
  return options;
}

}  // namespace

struct TextPattern::Compiled {
  explicit Compiled(std::string_view expression)
      : pattern(re2::StringPiece(expression.data(), expression.size()), Settings()) {}
  RE2 pattern;
};

Result<TextPattern> TextPattern::Compile(std::string_view expression) {
  auto compiled = std::make_shared<const Compiled>(expression);
  if (!compiled->pattern.ok()) {
    return errors::PatternInvalid(compiled->pattern.error());
  }
  return TextPattern(std::move(compiled));
}

bool TextPattern::IsIn(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->pattern);
}

}  // namespace caip::logging
