#pragma once
// The Logging query language: the `filter` of entries.list, of sinks and of metrics.
//
//   expression := factor { ["AND"] factor }           OR binds tighter than AND
//   factor     := term { "OR" term }
//   term       := ("NOT" | "-") term | "(" expression ")" | function | comparison | value
//   comparison := field operator ( value | "(" expression of values ")" )
//   operator   := "=" "!=" "<" "<=" ">" ">=" ":" "=~" "!~"
//   function   := log_id("...") | sample(field, fraction) | SEARCH([field,] "...")
//
// Comparisons of text ignore case, except regular expressions. `-- words` is a comment.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/logging/filter/comparison.h"

namespace caip::logging {

/// A part of a filter. Immutable after parsing.
struct FilterNode {
  enum class Kind {
    kAll,       // matches everything
    kAnd,       // all children
    kOr,        // any child
    kNot,       // not the child
    kCompare,   // comparison
    kAnywhere,  // folded text in any field
    kLogId,     // text is the id of the entry's log
    kSearch,    // words, in `field` or anywhere
    kSample,    // a fraction of the entries, chosen by `field`
  };
  Kind kind = Kind::kAll;
  std::vector<FilterNode> children;
  std::optional<FilterComparison> comparison;
  std::string text;
  std::vector<std::string> words;
  FilterField field;
  double fraction = 0;

  bool Matches(const Json& entry) const;
};

/// A parsed filter; cheap to copy, any thread.
class Filter {
 public:
  /// Matches every entry.
  Filter() : root_(std::make_shared<const FilterNode>()) {}
  /// Blank text matches every entry. kInvalidArgument names the line and column of the mistake.
  static Result<Filter> Parse(std::string_view text);
  /// `entry` is a LogEntry as JSON with all its output fields set.
  bool Matches(const Json& entry) const { return root_->Matches(entry); }
  const FilterNode& root() const { return *root_; }
  /// Returns a copy in which `moved` has been applied to the upper bounds of `timestamp`.
  Filter WithUpperTimes(const std::function<Instant(Instant)>& moved) const;

 private:
  std::shared_ptr<const FilterNode> root_;
};

/// Splits a text into the words that SEARCH compares, in lower case.
std::vector<std::string> SearchWords(std::string_view text);

/// Returns "a/b" for "projects/p/logs/a%2Fb", and "" if the text is not the name of a log.
std::string LogIdOfName(std::string_view log_name);

}  // namespace caip::logging
