#pragma once
// The `filter` of a list method: a subset of AIP-160.
//
//   expression  := factor { "AND" factor }
//   factor      := term { "OR" term }                  OR binds tighter than AND, as in AIP-160
//   term        := [ "NOT" | "-" ] ( "(" expression ")" | field operator value )
//   operator    := ":" | "=" | "!=" | "<" | "<=" | ">" | ">="
//   value       := word | "text with \" and \\"
//
// Fields are those of the FilterLanguage, in either spelling. `field:text*` is a prefix,
// `field:text` is contained, `field:*` is set, `labels:KEY` has the key. Times are RFC 3339 or a
// beginning of it, UTC where no zone is given; `=` and `:` then mean within that year, month, ...
// second.

#include <memory>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "google/filter/filter_language.h"

namespace caip::google {

struct FilterNode;

/// A parsed filter; immutable, cheap to copy, any thread.
class ResourceFilter {
 public:
  /// Matches every resource.
  ResourceFilter() = default;
  explicit ResourceFilter(std::shared_ptr<const FilterNode> root) : root_(std::move(root)) {}
  /// Blank text matches every resource. Else the error is `language.broken`.
  static Result<ResourceFilter> Parse(std::string_view text, const FilterLanguage& language);
  bool matches_all() const { return root_ == nullptr; }
  /// `plain` is a resource as transcoder.h keeps it.
  bool Matches(const Json& plain) const;

 private:
  std::shared_ptr<const FilterNode> root_;
};

}  // namespace caip::google
