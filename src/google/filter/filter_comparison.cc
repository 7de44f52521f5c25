#include "google/filter/filter_comparison.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "google/filter/filter_errors.h"

namespace caip::google {
namespace {

const FilterField* FindListed(const FilterLanguage& language, std::string_view proto_name) {
  for (const FilterField& listed : language.fields) {
    if (listed.proto_name == proto_name) return &listed;
  }
  return nullptr;
}

std::string_view SpellingOf(FilterOperator op) {
  constexpr std::string_view kSpellings[] = {":", "=", "!=", "<", "<=", ">", ">="};
  return kSpellings[static_cast<int>(op)];
}

bool Takes(const FilterField& listed, FilterOperator op) {
  if (listed.operators.empty()) return true;
  const std::vector<std::string> taken = Split(listed.operators, ' ');
  return std::find(taken.begin(), taken.end(), SpellingOf(op)) != taken.end();
}

bool IsNumeric(FieldKind kind) {
  return kind == FieldKind::kInt32 || kind == FieldKind::kInt64 || kind == FieldKind::kDouble;
}

bool IsMessage(FieldKind kind) {
  return kind == FieldKind::kMessage || kind == FieldKind::kOpaque || kind == FieldKind::kStringMap;
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Durations are compared in seconds.
std::optional<double> ParseSeconds(std::string_view text) {
  const auto duration = ParseProtoDuration(text);
  if (!duration) return std::nullopt;
  return std::chrono::duration<double>(*duration).count();
}

template <typename T>
bool Compare(const T& left, FilterOperator op, const T& right) {
  switch (op) {
    case FilterOperator::kHas:
    case FilterOperator::kEqual:
      return left == right;
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
  }
  return false;
}

bool BeginsOneOf(const EnumSchema& enumeration, std::string_view text) {
  return std::any_of(enumeration.names.begin(), enumeration.names.end(),
                     [&](std::string_view name) { return name.starts_with(text); });
}

bool IsOrder(FilterOperator op) {
  return op != FilterOperator::kHas && op != FilterOperator::kEqual &&
         op != FilterOperator::kUnequal;
}

}  // namespace

Result<FilterComparison> FilterComparison::Make(std::string_view field, FilterOperator op,
                                                std::string_view value, bool is_quoted,
                                                const FilterLanguage& language) {
  FilterComparison comparison;
  comparison.op_ = op;
  comparison.time_unit_ = language.time_unit;
  RETURN_IF_ERROR(comparison.ResolveField(field, language));
  comparison.has_stars_ = language.has_stars_in_quotes;
  RETURN_IF_ERROR(comparison.ResolveValue(field, value, is_quoted));
  RETURN_IF_ERROR(comparison.CheckOperator(field));
  return comparison;
}

Status FilterComparison::ResolveField(std::string_view field, const FilterLanguage& language) {
  const MessageSchema* message = &language.resource;
  std::vector<std::string> parts = Split(field, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    const FieldSchema* found = message == nullptr ? nullptr : message->Find(parts[i]);
    const FilterField* listed =
        found == nullptr || i > 0 ? nullptr : FindListed(language, found->proto_name);
    // Nothing below a list can be named.
    if (found == nullptr || (i == 0 && listed == nullptr) || repeated_) {
      return errors::FilterFieldUnknown(field, language.fields_in_words);
    }
    if (listed != nullptr && !Takes(*listed, op_)) {
      return errors::FilterOperatorNotTaken(field, listed->operators);
    }
    path_.emplace_back(found->proto_name);
    kind_ = found->kind;
    repeated_ = found->repeated;
    enumeration_ = found->enumeration;
    message = found->message;
    if (kind_ == FieldKind::kStringMap && i + 1 < parts.size()) {
      // The key is all that follows.
      parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      path_.push_back(Join(parts, "."));
      kind_ = FieldKind::kString;
      is_map_value_ = true;
      return Ok{};
    }
  }
  return Ok{};
}

Status FilterComparison::ResolveValue(std::string_view field, std::string_view value,
                                      bool is_quoted) {
  text_ = value;
  const bool counts_stars = op_ == FilterOperator::kHas && (!is_quoted || has_stars_);
  if (counts_stars && !text_.empty() && text_.find('*') == text_.size() - 1) {
    text_.pop_back();
    (text_.empty() ? asks_presence_ : is_prefix_) = true;
  } else if (counts_stars && has_stars_ && text_.find('*') != std::string::npos) {
    pieces_ = Split(text_, '*');
  }
  if (asks_presence_) return Ok{};
  if (kind_ == FieldKind::kStringMap && op_ == FilterOperator::kHas && !is_prefix_) {
    path_.push_back(text_);  // labels:KEY
    kind_ = FieldKind::kString;
    asks_presence_ = true;
    return Ok{};
  }
  if (IsMessage(kind_)) return errors::FilterFieldNotComparable(field);
  if (is_prefix_ && kind_ == FieldKind::kEnum && BeginsOneOf(*enumeration_, text_)) return Ok{};
  if (kind_ != FieldKind::kString && kind_ != FieldKind::kEnum && is_prefix_) {
    return errors::FilterOperatorNotForField(field, "no text");
  }
  if (kind_ == FieldKind::kEnum && is_prefix_) {
    return errors::FilterValueNot(
        text_ + "*", "the beginning of one of " +
                         Join({enumeration_->names.begin(), enumeration_->names.end()}, ", "));
  }
  if (kind_ == FieldKind::kEnum && !enumeration_->Has(text_)) {
    return errors::FilterValueNot(
        text_, "one of " + Join({enumeration_->names.begin(), enumeration_->names.end()}, ", "));
  }
  if (kind_ == FieldKind::kBool) {
    if (text_ != "true" && text_ != "false") return errors::FilterValueNot(text_, "true or false");
    flag_ = text_ == "true";
  }
  if (IsNumeric(kind_) || kind_ == FieldKind::kDuration) {
    const auto number = kind_ == FieldKind::kDuration ? ParseSeconds(text_) : ParseNumber(text_);
    if (!number) {
      return errors::FilterValueNot(
          text_, kind_ == FieldKind::kDuration ? "a duration, as 3600s" : "a number");
    }
    number_ = *number;
  }
  if (kind_ == FieldKind::kTimestamp) {
    const bool has_fraction = text_.find('.') != std::string::npos;
    const auto period =
        ParsePeriod(text_, has_fraction ? Duration(1) : Duration(std::chrono::seconds(1)));
    if (!period) {
      return errors::FilterValueNot(text_, "a time, as 2017-01-15T19:00 or 2017-01-15T19:00:00Z");
    }
    period_ = *period;
  }
  return Ok{};
}

Status FilterComparison::CheckOperator(std::string_view field) const {
  if (!IsOrder(op_) && !(repeated_ && op_ != FilterOperator::kHas)) return Ok{};
  if (repeated_) return errors::FilterOperatorNotForField(field, "a list");
  if (kind_ == FieldKind::kEnum) return errors::FilterOperatorNotForField(field, "an enum");
  if (kind_ == FieldKind::kBool) return errors::FilterOperatorNotForField(field, "a boolean");
  return Ok{};
}

const Json* FilterComparison::ValueIn(const Json& plain) const {
  const Json* value = &plain;
  for (const std::string& name : path_) {
    if (value != nullptr) value = Member(*value, name);
  }
  return value;
}

bool FilterComparison::Matches(const Json& plain) const {
  const Json* value = ValueIn(plain);
  if (asks_presence_) return value != nullptr;
  if (!repeated_) return MatchesOne(value);
  if (value == nullptr) return false;
  return std::any_of(value->begin(), value->end(),
                     [&](const Json& element) { return MatchesOne(&element); });
}

// A field that is not set has proto3's default. A time and the value of a key that is missing from
// a map have none: they are unequal to all.
bool FilterComparison::MatchesOne(const Json* value) const {
  if (value == nullptr && is_map_value_) return op_ == FilterOperator::kUnequal;
  switch (kind_) {
    case FieldKind::kTimestamp:
      return MatchesTime(value);
    case FieldKind::kBool:
      return Compare(value != nullptr && value->get<bool>(), op_, flag_);
    case FieldKind::kDuration:
      if (value == nullptr) return op_ == FilterOperator::kUnequal;
      return Compare(static_cast<double>(value->get<int64_t>()) / 1e9, op_, number_);
    case FieldKind::kInt32:
    case FieldKind::kInt64:
    case FieldKind::kDouble:
      return Compare(value == nullptr ? 0.0 : value->get<double>(), op_, number_);
    case FieldKind::kEnum: {
      const std::string name =
          value == nullptr ? std::string(enumeration_->names[0]) : value->get<std::string>();
      return is_prefix_ ? name.starts_with(text_) : Compare(name, op_, text_);
    }
    default:
      return MatchesText(value == nullptr ? "" : value->get_ref<const std::string&>());
  }
}

namespace {

// Whether the text has the pieces in their order; the first begins it, and the last ends it.
bool HasPieces(std::string_view text, const std::vector<std::string>& pieces) {
  if (!text.starts_with(pieces.front())) return false;
  text.remove_prefix(pieces.front().size());
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    const size_t at = text.find(pieces[i]);
    if (at == text.npos) return false;
    text.remove_prefix(at + pieces[i].size());
  }
  return text.ends_with(pieces.back());
}

}  // namespace

bool FilterComparison::MatchesText(std::string_view text) const {
  if (!pieces_.empty()) return HasPieces(text, pieces_);
  if (op_ != FilterOperator::kHas) return Compare(text, op_, std::string_view(text_));
  if (is_prefix_) return text.starts_with(text_);
  // A label has a value; other texts, and elements of lists, contain one.
  if (path_.size() == 2 && path_[0] == "labels") return text == text_;
  return text.find(text_) != std::string_view::npos;
}

bool FilterComparison::MatchesTime(const Json* value) const {
  if (value == nullptr) return op_ == FilterOperator::kUnequal;
  const int64_t count = value->get<int64_t>();
  const int64_t unit = time_unit_.count();
  const Instant time{Duration(count - (count % unit + unit) % unit)};
  const bool within = time >= period_.first && time < period_.end;
  if (op_ == FilterOperator::kUnequal) return !within;
  if (!IsOrder(op_)) return within;
  // <= includes all times for which = holds. > begins at the start of the period all the same: by
  // the API's own example, createTime>2017-01-15T19:00 selects the jobs that were created after
  // 7 PM (docs/service/api.md, section 3), not those after 7:01 PM.
  if (op_ == FilterOperator::kLessEqual) return time < period_.end;
  return Compare(time, op_, period_.first);
}

}  // namespace caip::google
