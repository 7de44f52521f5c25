#pragma once
// One comparison of a filter: field, operator, value. Prepared once, applied to every entry.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/filter_comparison.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/filter/fields.h"
#include "fakes/logging/filter/tokens.h"

namespace caip::logging {

enum class FilterOperator {
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kHas,
  kMatches,
  kMatchesNot,
};
std::optional<FilterOperator> ParseFilterOperator(std::string_view sign);

/// Like ParsePeriod, but also takes any number of fraction digits, and offsets without a colon.
std::optional<Period> ParseEntryPeriod(std::string_view text);

/// Converts ASCII letters to lower case: like the service, comparisons ignore case.
std::string FoldCase(std::string_view text);
/// The text of a string, or the JSON of any other value.
std::string ScalarText(const Json& value);

/// True if `text` contains `folded`, ignoring case.
bool HasFolded(std::string_view text, std::string_view folded);
/// True if `value`, or any value inside it, contains `folded`.
bool HasBelow(const Json& value, std::string_view folded);

// Regular expressions in RE2's syntax, which the service uses. Matching takes linear time.

/// A compiled regular expression. Immutable, cheap to copy, any thread.
class TextPattern {
 public:
  /// The error's message is RE2's.
  static Result<TextPattern> Compile(std::string_view expression);
  /// True if a part of the text matches. Case matters.
  bool IsIn(std::string_view text) const;

 private:
  struct Compiled;
  explicit TextPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

class FilterComparison {
 public:
  /// `value` is a word or a quoted text. The word `*` after `:` tests for presence.
  static Result<FilterComparison> Make(FilterField field, FilterOperator op,
                                       const FilterToken& value);
  /// `entry` is a LogEntry as JSON. If a label or a member of a payload is missing, every
  /// comparison is false. A missing field that every entry has counts as its default.
  bool Matches(const Json& entry) const;

  const FilterField& field() const { return field_; }
  FilterOperator op() const { return op_; }
  bool tests_presence() const { return tests_presence_; }
  const std::string& text() const { return text_; }
  const Period& period() const { return period_; }
  void SetTime(Instant time) { period_ = {time, time + Duration(1)}; }
  int severity() const { return static_cast<int>(number_); }

 private:
  Status ReadValue(const FilterToken& value);
  Status ReadPattern(const FilterToken& value);
  Status ReadTime(const FilterToken& value);
  Status CheckOperator(const FilterToken& value) const;
  bool MatchesAt(const Json& value, size_t depth) const;
  bool MatchesValue(const Json& value) const;
  bool MatchesFree(const Json& value) const;
  bool MatchesText(std::string_view text) const;
  bool MatchesNumber(double number) const;
  bool MatchesTime(std::string_view text) const;
  bool MatchesFlag(bool flag) const;

  FilterField field_;
  FilterOperator op_ = FilterOperator::kEqual;
  bool tests_presence_ = false;
  bool is_null_ = false;
  std::string text_;
  std::string folded_;
  bool is_number_ = false;
  double number_ = 0;  // also a severity, and the seconds of a duration
  std::optional<bool> flag_;
  Period period_{};
  std::optional<TextPattern> pattern_;
};

}  // namespace caip::logging
