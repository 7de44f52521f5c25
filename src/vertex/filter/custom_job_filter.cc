#include "vertex/filter/custom_job_filter.h"

#include <chrono>

#include "base/json.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/render.h"
#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/training_pipeline_schema.h"

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
      .has_stars_in_quotes = true,
      .broken = errors::FilterBroken};
  return kLanguage;
}

constexpr google::FilterField kPipelineFilterFields[] = {{"display_name", ": = !="},
                                                         {"state", "= !="},
                                                         {"training_task_definition", ": = !="},
                                                         {"create_time"},
                                                         {"labels", ": = !="}};

const google::FilterLanguage& PipelineFilterLanguage() {
  static const google::FilterLanguage kLanguage{
      .resource = TrainingPipelineSchema(),
      .fields = kPipelineFilterFields,
      .fields_in_words = "display_name, state, training_task_definition, create_time or labels.KEY",
      .example = "display_name=census or state=\"PIPELINE_STATE_FAILED\"",
      .time_unit = std::chrono::microseconds(1),
      .has_stars_in_quotes = true,
      .broken = errors::FilterBroken};
  return kLanguage;
}

// What a filter can name, from the stored document: most jobs of a list are not rendered.
Json FilteredPartOf(const run::Job& job, bool has_queue, ListedAs listed_as) {
  Json plain = Json::object();
  const bool is_pipeline = listed_as == ListedAs::kTrainingPipeline;
  const Json& kept = is_pipeline ? PipelinePartOf(job.document) : JobPartOf(job.document);
  plain["display_name"] = StringOr(kept, "displayName");
  const bool shows_queue = ShowsQueue(job, has_queue);
  plain["state"] = is_pipeline ? PipelineStateName(job.state, shows_queue)
                               : std::string(JobStateName(job.state, shows_queue));
  if (is_pipeline) {
    plain["training_task_definition"] = StringOr(kept, "trainingTaskDefinition");
  }
  if (job.create_time) plain["create_time"] = job.create_time->time_since_epoch().count();
  if (const Json* labels = Member(kept, "labels")) plain["labels"] = *labels;
  return plain;
}

}  // namespace

Result<CustomJobFilter> CustomJobFilter::Parse(std::string_view text, ListedAs listed_as) {
  const google::FilterLanguage& language = listed_as == ListedAs::kTrainingPipeline
                                               ? PipelineFilterLanguage()
                                               : CustomJobFilterLanguage();
  ASSIGN_OR_RETURN(google::ResourceFilter filter, google::ResourceFilter::Parse(text, language));
  return CustomJobFilter(std::move(filter), listed_as);
}

bool CustomJobFilter::Matches(const run::Job& job, bool has_queue) const {
  return filter_.matches_all() || filter_.Matches(FilteredPartOf(job, has_queue, listed_as_));
}

}  // namespace caip::vertex
