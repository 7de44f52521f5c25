#include "vertex/filter/custom_job_filter.h"

#include <chrono>

#include "base/json.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/render.h"
#include "vertex/schema/custom_job_schema.h"

namespace caip::vertex {
namespace {

constexpr google::FilterField kCustomJobFilterFields[] = {
    {"display_name", ": = !="}, {"state", "= !="}, {"create_time"}, {"labels", ": = !="}};

const google::FilterLanguage& CustomJobFilterLanguage() {
  static const google::FilterLanguage kLanguage{
      .resource = CustomJobSchema(),
      .fields = kCustomJobFilterFields,
      .fields_in_words = "display_name, state, create_time or labels.KEY",
      .example = "display_name=census or state=\"JOB_STATE_FAILED\"",
      .time_unit = std::chrono::microseconds(1),
      .broken = errors::FilterBroken};
  return kLanguage;
}

// What a filter can name, from the stored document: most jobs of a list are not rendered.
Json FilteredPartOf(const run::Job& job, bool has_queue) {
  Json plain = Json::object();
  const Json& kept = JobPartOf(job.document);
  plain["display_name"] = StringOr(kept, "displayName");
  plain["state"] = JobStateName(job.state, has_queue);
  if (job.create_time) plain["create_time"] = job.create_time->time_since_epoch().count();
  if (const Json* labels = Member(kept, "labels")) plain["labels"] = *labels;
  return plain;
}

}  // namespace

Result<CustomJobFilter> CustomJobFilter::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(google::ResourceFilter filter,
                   google::ResourceFilter::Parse(text, CustomJobFilterLanguage()));
  return CustomJobFilter(std::move(filter));
}

bool CustomJobFilter::Matches(const run::Job& job, bool has_queue) const {
  return filter_.matches_all() || filter_.Matches(FilteredPartOf(job, has_queue));
}

}  // namespace caip::vertex
