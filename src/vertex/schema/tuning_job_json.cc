#include "vertex/schema/tuning_job_json.h"

#include <string_view>
#include <utility>

#include "google/errors.h"
#include "google/transcoder.h"
#include "vertex/errors.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/schema/tuning_job_schema.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kUnservedStudyFields[] = {
    "decay_curve_stopping_spec", "convex_automated_stopping_spec", "study_stopping_config"};

template <typename Value>
std::optional<Value> StudyValueOf(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::nullopt : std::optional(value->get<Value>());
}

template <typename Number>
std::optional<ValueRange<Number>> StudyRangeOf(const Json& plain, std::string_view name) {
  const Json* range = Member(plain, name);
  if (range == nullptr) return std::nullopt;
  return ValueRange<Number>{StudyValueOf<Number>(*range, "min_value"),
                            StudyValueOf<Number>(*range, "max_value"),
                            Member(*range, "default_value") != nullptr};
}

template <typename Value>
std::optional<ValueList<Value>> StudyListOf(const Json& plain, std::string_view name) {
  const Json* list = Member(plain, name);
  if (list == nullptr) return std::nullopt;
  return ValueList<Value>{
      StudyValueOf<std::vector<Value>>(*list, "values").value_or(std::vector<Value>{}),
      Member(*list, "default_value") != nullptr};
}

template <typename Value>
std::optional<std::vector<Value>> ParentValuesOf(const Json& condition, std::string_view name) {
  auto list = StudyListOf<Value>(condition, name);
  return list ? std::optional(std::move(list->values)) : std::nullopt;
}

StudyParameter ReadStudyParameter(const Json& plain) {
  StudyParameter parameter;
  parameter.id = StringOr(plain, "parameter_id");
  parameter.doubles = StudyRangeOf<double>(plain, "double_value_spec");
  parameter.integers = StudyRangeOf<int64_t>(plain, "integer_value_spec");
  parameter.categories = StudyListOf<std::string>(plain, "categorical_value_spec");
  parameter.numbers = StudyListOf<double>(plain, "discrete_value_spec");
  parameter.scale = StringOr(plain, "scale_type");
  const Json* conditions = Member(plain, "conditional_parameter_specs");
  if (conditions == nullptr) return parameter;
  for (const Json& condition : *conditions) {
    const Json* spec = Member(condition, "parameter_spec");
    StudyParameter child = spec ? ReadStudyParameter(*spec) : StudyParameter{};
    child.has_spec = spec != nullptr;
    child.parent_numbers = ParentValuesOf<double>(condition, "parent_discrete_values");
    child.parent_integers = ParentValuesOf<int64_t>(condition, "parent_int_values");
    child.parent_categories = ParentValuesOf<std::string>(condition, "parent_categorical_values");
    parameter.children.push_back(std::move(child));
  }
  return parameter;
}

StudySpec ReadStudySpec(const Json& plain) {
  StudySpec study;
  if (const Json* metrics = Member(plain, "metrics")) {
    for (const Json& metric : *metrics) {
      study.metrics.push_back({StringOr(metric, "metric_id"), StringOr(metric, "goal"),
                               Member(metric, "safety_config") != nullptr});
    }
  }
  if (const Json* parameters = Member(plain, "parameters")) {
    for (const Json& parameter : *parameters) {
      study.parameters.push_back(ReadStudyParameter(parameter));
    }
  }
  study.algorithm = StringOr(plain, "algorithm");
  study.measurement_selection = StringOr(plain, "measurement_selection_type");
  if (const Json* median = Member(plain, "median_automated_stopping_spec")) {
    study.stops_by_median = true;
    study.median_uses_duration =
        StudyValueOf<bool>(*median, "use_elapsed_duration").value_or(false);
  }
  for (const std::string_view field : kUnservedStudyFields) {
    if (Member(plain, field)) study.unserved.emplace_back(field);
  }
  return study;
}

// The custom job that all trials have in common.
CustomJob ReadTrialJob(const Json& plain) {
  Json job = Json::object();
  for (const char* shared : {"display_name", "labels", "encryption_spec"}) {
    if (const Json* value = Member(plain, shared)) job[shared] = *value;
  }
  if (const Json* spec = Member(plain, "trial_job_spec")) job["job_spec"] = *spec;
  return CustomJobFromPlain(std::move(job));
}

Result<Json> ReadTuningPlain(const Json& json) {
  std::vector<FieldViolation> violations;
  Json plain =
      google::ReadMessage(json, TuningJobSchema(), "hyperparameter_tuning_job", violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  return plain;
}

Result<Json> PlainOfTuningBody(const Json& body) {
  if (!body.is_object()) return errors::BodyNoObject("HyperparameterTuningJob");
  return ReadTuningPlain(google::WithoutOutputFields(body, TuningJobSchema()));
}

}  // namespace

TuningJob TuningJobFromPlain(Json plain) {
  TuningJob job;
  job.trial = ReadTrialJob(plain);
  if (const Json* study = Member(plain, "study_spec")) job.study = ReadStudySpec(*study);
  job.max_trials = IntOr(plain, "max_trial_count", 0);
  job.max_parallel = IntOr(plain, "parallel_trial_count", 0);
  job.max_failed = IntOr(plain, "max_failed_trial_count", 0);
  google::RemoveDefaults(plain, TuningJobSchema());
  job.plain = std::move(plain);
  return job;
}

Result<TuningJob> ParseTuningJob(const Json& body) {
  ASSIGN_OR_RETURN(Json plain, PlainOfTuningBody(body));
  return TuningJobFromPlain(std::move(plain));
}

Result<Json> SpellTuningJob(const Json& body) {
  ASSIGN_OR_RETURN(const Json plain, PlainOfTuningBody(body));
  return google::WriteMessage(plain, TuningJobSchema(), {.camel_case = true});
}

Result<TuningJob> TuningJobFromStoredJson(const Json& stored) {
  ASSIGN_OR_RETURN(Json plain, ReadTuningPlain(stored));
  return TuningJobFromPlain(std::move(plain));
}

Json ToStoredJson(const TuningJob& job) {
  return google::WriteMessage(job.plain, TuningJobSchema(), {.camel_case = true});
}

}  // namespace caip::vertex
