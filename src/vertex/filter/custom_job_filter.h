#pragma once
// The `filter` of projects.locations.customJobs.list (docs/service/vertex.md, section 2): the
// grammar of google/filter/resource_filter.h over display_name, state, create_time and labels.KEY,
// in either spelling.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "google/filter/resource_filter.h"
#include "run/job.h"

namespace caip::vertex {

/// A parsed filter; immutable, cheap to copy, any thread.
class CustomJobFilter {
 public:
  /// Matches every job.
  CustomJobFilter() = default;
  /// Blank text matches every job. kInvalidArgument names the character where it is broken.
  static Result<CustomJobFilter> Parse(std::string_view text);
  /// `has_queue` as in RenderOptions: a filter sees the state that the client sees.
  bool Matches(const run::Job& job, bool has_queue) const;

 private:
  explicit CustomJobFilter(google::ResourceFilter filter) : filter_(std::move(filter)) {}
  google::ResourceFilter filter_;
};

}  // namespace caip::vertex
