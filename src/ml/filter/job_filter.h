#pragma once
// The `filter` of projects.jobs.list: a subset of AIP-160.
//
//   expression  := factor { "AND" factor }
//   factor      := term { "OR" term }                  OR binds tighter than AND, as in AIP-160
//   term        := [ "NOT" | "-" ] ( "(" expression ")" | field operator value )
//   operator    := ":" | "=" | "!=" | "<" | "<=" | ">" | ">="
//   value       := word | "text with \" and \\"
//
// Fields: jobId, state, createTime, startTime, endTime, labels.KEY, and those of trainingInput; in
// either spelling. `field:text*` is a prefix, `field:text` is contained, `field:*` is set,
// `labels:KEY` has the key. Times are RFC 3339 or a beginning of it, UTC where no zone is given;
// `=` and `:` then mean within that year, month, ... second.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "ml/job.h"

namespace caip::ml {

struct FilterNode;

/// A parsed filter; immutable, cheap to copy, any thread.
class JobFilter {
 public:
  /// Matches every job.
  JobFilter() = default;
  explicit JobFilter(std::shared_ptr<const FilterNode> root) : root_(std::move(root)) {}
  /// Blank text matches every job. kInvalidArgument names the character where it is broken.
  static Result<JobFilter> Parse(std::string_view text);
  bool Matches(const Job& job) const;

 private:
  std::shared_ptr<const FilterNode> root_;
};

}  // namespace caip::ml
