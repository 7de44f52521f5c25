#pragma once
// The TrainingPipeline resource (docs/service/vertex.md, section 3): a custom job or a tuning job
// under another name. The engine knows only that job; the pipeline is kept in its document.

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "vertex/custom_job.h"
#include "vertex/tuning_job.h"
#include "vertex/validate/validate.h"

namespace caip::vertex {

struct TrainingPipeline {
  std::string display_name;
  std::string definition;  // trainingTaskDefinition: "gs://.../custom_task_1.0.0.yaml"
  /// Everything that the client sent, as google/transcoder.h keeps it, without output fields.
  Json plain = Json::object();
};

/// Reads a create body. Its inputs are read by CustomJobOf.
Result<TrainingPipeline> ParseTrainingPipeline(const Json& body);

/// The custom job that does the pipeline's work. kUnimplemented: the pipeline asks for more than
/// training. kInvalidArgument: it breaks a rule; all violations at once, with the pipeline's names
/// of the fields.
Result<CustomJob> CustomJobOf(const TrainingPipeline& pipeline, std::string_view location,
                              const ValidationOptions& options);

/// Whether the task of the pipeline is a tuning job.
bool IsTuningPipeline(const TrainingPipeline& pipeline);
/// The tuning job that does the pipeline's work, as CustomJobOf makes a custom job.
Result<TuningJob> TuningJobOf(const TrainingPipeline& pipeline, std::string_view location,
                              const ValidationOptions& options);

/// The id of the custom job of a pipeline: always the same one, so that either finds the other.
std::string BackingJobId(std::string_view pipeline_id);
/// The same if the task of the pipeline is a tuning job.
std::string BackingTuningJobId(std::string_view pipeline_id);

}  // namespace caip::vertex
