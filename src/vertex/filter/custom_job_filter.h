#pragma once
// The `filter` of the lists of customJobs, hyperparameterTuningJobs and trainingPipelines
// (docs/service/vertex.md, section 2): the grammar of google/filter/resource_filter.h over
// display_name, state, create_time and labels.KEY, in either spelling, and for pipelines
// training_task_definition.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "google/filter/resource_filter.h"
#include "run/job.h"

namespace caip::vertex {

/// What a list shows of jobs.
enum class ListedAs { kCustomJob, kTuningJob, kTrainingPipeline };

/// A parsed filter; immutable, cheap to copy, any thread.
class CustomJobFilter {
 public:
  /// Matches every job.
  CustomJobFilter() = default;
  /// Blank text matches every job. kInvalidArgument names the character where it is broken.
  static Result<CustomJobFilter> Parse(std::string_view text,
                                       ListedAs listed_as = ListedAs::kCustomJob);
  /// `has_queue` as in RenderOptions: a filter sees the state that the client sees.
  bool Matches(const run::Job& job, bool has_queue) const;

 private:
  CustomJobFilter(google::ResourceFilter filter, ListedAs listed_as)
      : filter_(std::move(filter)), listed_as_(listed_as) {}
  google::ResourceFilter filter_;
  ListedAs listed_as_ = ListedAs::kCustomJob;
};

}  // namespace caip::vertex
