#pragma once
// One comparison of a filter: field, operator, value; made ready once, asked for every resource.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/filter_comparison.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "google/filter/filter_language.h"
#include "google/message_schema.h"

namespace caip::google {

enum class FilterOperator { kHas, kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual };

class FilterComparison {
 public:
  /// `is_quoted`: a `*` in the value is just a star, unless the language has stars in quotes. The
  /// error's message says why.
  static Result<FilterComparison> Make(std::string_view field, FilterOperator op,
                                       std::string_view value, bool is_quoted,
                                       const FilterLanguage& language);
  /// `plain` is a resource as transcoder.h keeps it.
  bool Matches(const Json& plain) const;

 private:
  Status ResolveField(std::string_view field, const FilterLanguage& language);
  Status ResolveValue(std::string_view field, std::string_view value, bool is_quoted);
  Status CheckOperator(std::string_view field) const;
  const Json* ValueIn(const Json& plain) const;
  bool MatchesOne(const Json* value) const;
  bool MatchesText(std::string_view text) const;
  bool MatchesTime(const Json* value) const;

  std::vector<std::string> path_;  // proto names; the last one of labels is the key
  FieldKind kind_ = FieldKind::kString;
  bool repeated_ = false;
  bool is_map_value_ = false;
  const EnumSchema* enumeration_ = nullptr;
  FilterOperator op_ = FilterOperator::kEqual;
  bool asks_presence_ = false;
  bool is_prefix_ = false;
  bool has_stars_ = false;           // FilterLanguage::has_stars_in_quotes
  std::vector<std::string> pieces_;  // between stars; empty if there are none
  std::string text_;
  double number_ = 0;
  bool flag_ = false;
  Period period_{};
  Duration time_unit_{1};
};

}  // namespace caip::google
