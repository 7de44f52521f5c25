#pragma once
// The `filter` of projects.jobs.list: the grammar of google/filter/resource_filter.h over jobId,
// state, createTime, startTime, endTime, labels.KEY and the fields of trainingInput.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "google/filter/resource_filter.h"
#include "ml/job.h"

namespace caip::ml {

/// A parsed filter; immutable, cheap to copy, any thread.
class JobFilter {
 public:
  /// Matches every job.
  JobFilter() = default;
  /// Blank text matches every job. kInvalidArgument names the character where it is broken.
  static Result<JobFilter> Parse(std::string_view text);
  bool Matches(const Job& job) const;

 private:
  explicit JobFilter(google::ResourceFilter filter) : filter_(std::move(filter)) {}
  google::ResourceFilter filter_;
};

}  // namespace caip::ml
