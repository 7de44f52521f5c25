#include "vertex/document.h"

#include <memory>
#include <vector>

#include "base/json.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "vertex/errors.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/schema/training_pipeline_schema.h"
#include "vertex/schema/tuning_job_json.h"
#include "vertex/trials.h"

namespace caip::vertex {
namespace {

// Documents of other APIs have no such member, so that one store can hold jobs of several.
constexpr const char* kJobMember = "customJob";
constexpr const char* kRegionMember = "region";
constexpr const char* kPipelineMember = "trainingPipeline";
constexpr const char* kPipelineIdMember = "trainingPipelineId";
constexpr const char* kTuningMember = "hyperparameterTuningJob";
constexpr const char* kTrialsMember = "trials";

const Json& PartOf(const run::Document& document, std::string_view name) {
  static const Json kNone = Json::object();
  const Json* part = Member(*document, name);
  return part == nullptr ? kNone : *part;
}

Result<std::optional<StoredPipeline>> ReadPipeline(const run::Document& document) {
  if (!IsPipelineJob(document)) return std::optional<StoredPipeline>();
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(PipelinePartOf(document), TrainingPipelineSchema(),
                                   "training_pipeline", violations);
  if (!violations.empty()) {
    return errors::StoredJobBroken(google::errors::NotTheMessage(std::move(violations)).message);
  }
  return std::optional(StoredPipeline{StringOr(*document, kPipelineIdMember), std::move(plain)});
}

run::Document DocumentWith(const char* member, Json job, const std::string& region,
                           const std::optional<StoredPipeline>& pipeline) {
  Json document = {{member, std::move(job)}, {kRegionMember, region}};
  if (pipeline) {
    document[kPipelineMember] =
        google::WriteMessage(pipeline->plain, TrainingPipelineSchema(), {.camel_case = true});
    document[kPipelineIdMember] = pipeline->id;
  }
  return std::make_shared<const Json>(std::move(document));
}

Result<std::string> ReadRegion(const run::Document& document) {
  std::string region = StringOr(*document, kRegionMember);
  if (region.empty()) return errors::StoredJobBroken("it has no region");
  return region;
}

}  // namespace

run::Document ToDocument(const CustomJob& job, const std::string& region,
                         const std::optional<StoredPipeline>& pipeline) {
  return DocumentWith(kJobMember, ToStoredJson(job), region, pipeline);
}

run::Document ToDocument(const TuningJob& job, const std::string& region,
                         const std::optional<StoredPipeline>& pipeline) {
  return DocumentWith(kTuningMember, ToStoredJson(job), region, pipeline);
}

run::Document WithTrials(const run::Document& document, const std::vector<run::Trial>& trials) {
  Json changed = *document;
  changed[kTrialsMember] = ToStoredTrials(trials);
  return std::make_shared<const Json>(std::move(changed));
}

bool IsPipelineJob(const run::Document& document) { return document->contains(kPipelineMember); }
bool IsTuningJob(const run::Document& document) { return document->contains(kTuningMember); }
const Json& JobPartOf(const run::Document& document) {
  return PartOf(document, IsTuningJob(document) ? kTuningMember : kJobMember);
}
const Json& PipelinePartOf(const run::Document& document) {
  return PartOf(document, kPipelineMember);
}

Result<StoredCustomJob> ReadDocument(const run::Document& document) {
  StoredCustomJob stored;
  ASSIGN_OR_RETURN(stored.region, ReadRegion(document));
  Result<CustomJob> job = FromStoredJson(JobPartOf(document));
  if (!job.ok()) return errors::StoredJobBroken(job.error().message);
  stored.job = *std::move(job);
  if (!stored.job.spec) return errors::StoredJobBroken("it has no jobSpec");
  ASSIGN_OR_RETURN(stored.pipeline, ReadPipeline(document));
  return stored;
}

Result<StoredTuningJob> ReadTuningDocument(const run::Document& document) {
  StoredTuningJob stored;
  ASSIGN_OR_RETURN(stored.region, ReadRegion(document));
  Result<TuningJob> job = TuningJobFromStoredJson(PartOf(document, kTuningMember));
  if (!job.ok()) return errors::StoredJobBroken(job.error().message);
  stored.job = *std::move(job);
  if (!stored.job.trial.spec || !stored.job.study) {
    return errors::StoredJobBroken("it has no trialJobSpec or no studySpec");
  }
  ASSIGN_OR_RETURN(stored.pipeline, ReadPipeline(document));
  ASSIGN_OR_RETURN(stored.trials, FromStoredTrials(PartOf(document, kTrialsMember)));
  return stored;
}

}  // namespace caip::vertex
