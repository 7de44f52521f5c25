#include "fakes/logging/filter/comparison.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

// "3.5s", "10ms", "2h", "1.5": seconds.
std::optional<double> SecondsOf(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = NumberOf(text.substr(0, text.size() - unit.size()));
    if (number) return *number * seconds;
  }
  return NumberOf(text);
}

std::optional<bool> FlagOf(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

std::string ScalarText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : CompactJson(value);
}

template <typename T>
bool Compare(const T& left, FilterOperator op, const T& right) {
  switch (op) {
    case FilterOperator::kUnequal:
      return left != right;
    case FilterOperator::kLess:
      return left < right;
    case FilterOperator::kLessEqual:
      return left <= right;
    case FilterOperator::kGreater:
      return left > right;
    case FilterOperator::kGreaterEqual:
      return left >= right;
    default:
      return left == right;
  }
}

char Folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// What a field that every entry has is worth where it is not written.
Json DefaultOf(FieldKind kind) {
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

}  // namespace

std::optional<FilterOperator> FilterOperatorOf(std::string_view sign) {
  for (const auto& [text, op] : kOperators) {
    if (text == sign) return op;
  }
  return std::nullopt;
}

std::string FoldCase(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = Folded(c);
  return folded;
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
  made.asks_presence_ = is_word && value.text == "*" && op == FilterOperator::kHas;
  made.is_null_ = is_word && value.text == "NULL_VALUE";
  if (made.asks_presence_) return made;
  RETURN_IF_ERROR(made.CheckOperator(value));
  RETURN_IF_ERROR(made.ReadValue(value));
  return made;
}

Status FilterComparison::CheckOperator(const FilterToken& value) const {
  const bool is_pattern = op_ == FilterOperator::kMatches || op_ == FilterOperator::kMatchesNot;
  const bool is_order = op_ >= FilterOperator::kLess && op_ <= FilterOperator::kGreaterEqual;
  const FieldKind kind = field_.kind;
  const bool is_text = kind == FieldKind::kText || kind == FieldKind::kFree;
  const bool fits = is_pattern                    ? is_text || kind == FieldKind::kSeverity
                    : kind == FieldKind::kFlag    ? !is_order
                    : kind == FieldKind::kMessage ? op_ == FilterOperator::kHas
                                                  : true;
  if (fits) return Ok{};
  return errors::FilterOperatorMisfit(value.place, Join(field_.path, "."));
}

Status FilterComparison::ReadValue(const FilterToken& value) {
  if (op_ == FilterOperator::kMatches || op_ == FilterOperator::kMatchesNot) {
    return ReadPattern(value);
  }
  flag_ = FlagOf(text_);
  std::optional<double> number = NumberOf(text_);
  const char* wanted = nullptr;
  if (field_.kind == FieldKind::kTime) return ReadTime(value);
  if (field_.kind == FieldKind::kDuration && !(number = SecondsOf(text_))) wanted = "a duration";
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
                                     "a time as RFC 3339 writes it");
  }
  period_ = *period;
  return Ok{};
}

bool FilterComparison::Matches(const Json& entry) const { return MatchesAt(entry, 0); }

// Of a list, any element may be it.
bool FilterComparison::MatchesAt(const Json& value, size_t depth) const {
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(),
                       [&](const Json& element) { return MatchesAt(element, depth); });
  }
  if (depth == field_.path.size()) return asks_presence_ || MatchesValue(value);
  const Json* member = Member(value, field_.path[depth]);
  if (member) return MatchesAt(*member, depth + 1);
  const bool has_default = field_.kind != FieldKind::kFree && field_.kind != FieldKind::kMessage &&
                           field_.kind != FieldKind::kTime;
  return has_default && !asks_presence_ && MatchesValue(DefaultOf(field_.kind));
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
      return MatchesNumber(SecondsOf(ScalarText(value)).value_or(0));
    case FieldKind::kNumber: {
      const auto number = NumberOf(ScalarText(value));
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
  return Compare(FoldCase(text), op_, folded_);
}

bool FilterComparison::MatchesNumber(double number) const { return Compare(number, op_, number_); }

bool FilterComparison::MatchesFlag(bool flag) const {
  if (!flag_ || (op_ >= FilterOperator::kLess && op_ <= FilterOperator::kGreaterEqual)) {
    return false;
  }
  return (flag == *flag_) == (op_ != FilterOperator::kUnequal);
}

bool FilterComparison::MatchesTime(std::string_view text) const {
  const auto time = ParseRfc3339(text);
  if (!time) return false;
  const bool is_within = *time >= period_.first && *time < period_.end;
  if (op_ == FilterOperator::kEqual || op_ == FilterOperator::kHas) return is_within;
  if (op_ == FilterOperator::kUnequal) return !is_within;
  return Compare(*time, op_, period_.first);
}

}  // namespace caip::logging
