#include "ml/filter/job_filter.h"

#include <chrono>

#include "base/json.h"
#include "ml/errors.h"
#include "ml/schema/job_plain.h"

namespace caip::ml {
namespace {

constexpr google::FilterField kJobFilterFields[] = {
    {"job_id"},   {"state"},  {"create_time"},   {"start_time"},
    {"end_time"}, {"labels"}, {"training_input"}};

const google::FilterLanguage& JobFilterLanguage() {
  static const google::FilterLanguage kLanguage{
      .resource = JobSchema(),
      .fields = kJobFilterFields,
      .fields_in_words =
          "jobId, state, createTime, startTime, endTime, labels.KEY or a field of trainingInput",
      .example = "jobId:census* or state=FAILED",
      // In whole seconds (spec: real job times have no fraction). Else `>` of a time that was read
      // from a job would match that job.
      .time_unit = std::chrono::seconds(1),
      .broken = errors::FilterBroken};
  return kLanguage;
}

}  // namespace

Result<JobFilter> JobFilter::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(google::ResourceFilter filter,
                   google::ResourceFilter::Parse(text, JobFilterLanguage()));
  return JobFilter(std::move(filter));
}

bool JobFilter::Matches(const Job& job) const {
  return filter_.matches_all() || filter_.Matches(PlainFromJob(job));
}

}  // namespace caip::ml
