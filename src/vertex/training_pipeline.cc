#include "vertex/training_pipeline.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "vertex/errors.h"
#include "vertex/limits.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/training_pipeline_schema.h"
#include "vertex/schema/tuning_job_json.h"
#include "vertex/schema/tuning_job_schema.h"
#include "vertex/validate/validate_tuning.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kCustomTask = "custom_task_1.0.0.yaml";
constexpr std::string_view kTuningTask = "hyperparameter_tuning_task_1.0.0.yaml";
constexpr std::string_view kInputsField = "training_task_inputs";
constexpr std::string_view kInputsPath = "training_pipeline.training_task_inputs";
constexpr const char* kSharedFields[] = {"display_name", "labels", "encryption_spec"};
constexpr std::string_view kJobNameSuffix = "-custom-job";
constexpr std::string_view kTuningNameSuffix = "-hyperparameter-tuning-job";

bool HasMembers(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value != nullptr && !value->empty();
}

std::optional<Error> FindUnservedPart(const TrainingPipeline& pipeline) {
  if (HasMembers(pipeline.plain, "model_to_upload")) return errors::NotServed("modelToUpload");
  if (HasMembers(pipeline.plain, "input_data_config")) return errors::NotServed("inputDataConfig");
  const std::string& definition = pipeline.definition;
  const bool is_served =
      definition.empty() || definition.ends_with(kCustomTask) || definition.ends_with(kTuningTask);
  if (!is_served) return errors::NotServed(definition);
  return std::nullopt;
}

// A Struct has only one kind of number: clients write the enum 4 as 4.0.
Json WithIntegers(const Json& value) {
  if (value.is_object()) {
    Json object = Json::object();
    for (const auto& [name, member] : value.items()) object[name] = WithIntegers(member);
    return object;
  }
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& element : value) list.push_back(WithIntegers(element));
    return list;
  }
  if (!value.is_number_float()) return value;
  const std::optional<int64_t> integer = google::ReadInteger(value);
  return integer ? Json(*integer) : value;
}

// "job_spec.scheduling.timeout" of the custom job is "training_task_inputs.scheduling.timeout".
std::vector<FieldViolation> Renamed(std::vector<FieldViolation> violations) {
  return WithSpecField(std::move(violations), kInputsField);
}

// All of a tuning job is in the inputs but what the pipeline has itself.
std::vector<FieldViolation> RenamedTuning(std::vector<FieldViolation> violations) {
  for (FieldViolation& violation : violations) {
    const std::string& field = violation.field;
    const bool is_input = field.starts_with("study_spec") || field.starts_with("trial_job_spec") ||
                          field.find("trial_count") != field.npos;
    if (is_input) violation.field = std::string(kInputsField) + "." + field;
  }
  return violations;
}

Result<Json> ReadInputs(const Json& inputs, const google::MessageSchema& schema) {
  std::vector<FieldViolation> violations;
  Json read =
      google::ReadMessage(WithIntegers(inputs), schema, std::string(kInputsPath), violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  return read;
}

// The fields that the pipeline's job has from the pipeline itself.
Json SharedFieldsOf(const TrainingPipeline& pipeline) {
  Json plain = Json::object();
  for (const char* shared : kSharedFields) {
    if (const Json* value = Member(pipeline.plain, shared)) plain[shared] = *value;
  }
  return plain;
}

void ExamineDefinition(const TrainingPipeline& pipeline, std::vector<FieldViolation>& found) {
  if (pipeline.definition.empty()) {
    found.push_back({"training_task_definition", violations::Required()});
  }
}

}  // namespace

Result<TrainingPipeline> ParseTrainingPipeline(const Json& body) {
  if (!body.is_object()) return errors::BodyNoObject("TrainingPipeline");
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(google::WithoutOutputFields(body, TrainingPipelineSchema()),
                                   TrainingPipelineSchema(), "training_pipeline", violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  google::RemoveDefaults(plain, TrainingPipelineSchema());
  return TrainingPipeline{StringOr(plain, "display_name"),
                          StringOr(plain, "training_task_definition"), std::move(plain)};
}

Result<CustomJob> CustomJobOf(const TrainingPipeline& pipeline, std::string_view location,
                              const ValidationOptions& options) {
  if (std::optional<Error> unserved = FindUnservedPart(pipeline)) return *std::move(unserved);
  Json plain = SharedFieldsOf(pipeline);
  if (const Json* inputs = Member(pipeline.plain, kInputsField)) {
    ASSIGN_OR_RETURN(plain["job_spec"], ReadInputs(*inputs, CustomJobSpecSchema()));
  }
  CustomJob job = CustomJobFromPlain(std::move(plain));
  std::vector<FieldViolation> broken = Validate(job, location, options);
  ExamineDefinition(pipeline, broken);
  RETURN_IF_ERROR(StatusOf(Renamed(FindUnserved(job, options)), Renamed(std::move(broken))));
  RETURN_IF_ERROR(CheckResources(job, options));
  job.display_name = BackingDisplayName(pipeline.display_name, kJobNameSuffix);
  job.plain["display_name"] = job.display_name;
  return job;
}

bool IsTuningPipeline(const TrainingPipeline& pipeline) {
  return pipeline.definition.ends_with(kTuningTask);
}

Result<TuningJob> TuningJobOf(const TrainingPipeline& pipeline, std::string_view location,
                              const ValidationOptions& options) {
  if (std::optional<Error> unserved = FindUnservedPart(pipeline)) return *std::move(unserved);
  Json plain = SharedFieldsOf(pipeline);
  if (const Json* inputs = Member(pipeline.plain, kInputsField)) {
    ASSIGN_OR_RETURN(const Json read, ReadInputs(*inputs, TuningTaskInputsSchema()));
    plain.update(read);
  }
  TuningJob job = TuningJobFromPlain(plain);
  RETURN_IF_ERROR(StatusOf(RenamedTuning(FindUnservedTuning(job, options)),
                           RenamedTuning(ValidateTuning(job, location, options))));
  RETURN_IF_ERROR(CheckResources(job.trial, options));
  plain["display_name"] = BackingDisplayName(pipeline.display_name, kTuningNameSuffix);
  return TuningJobFromPlain(std::move(plain));
}

std::string BackingJobId(std::string_view pipeline_id) {
  Random random(Fnv1a(pipeline_id, kFnvStart));
  return NewJobId(random);
}

std::string BackingTuningJobId(std::string_view pipeline_id) {
  Random random(Fnv1a(pipeline_id, kFnvStart));
  return NewTuningJobId(random);
}

}  // namespace caip::vertex
