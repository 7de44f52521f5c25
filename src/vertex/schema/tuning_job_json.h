#pragma once
// API JSON -> HyperparameterTuningJob (proto3 JSON mapping) and back, as custom_job_json.h does it.

#include "base/json_fwd.h"
#include "base/result.h"
#include "vertex/tuning_job.h"

namespace caip::vertex {

/// Reads a create body. Fields that only the service sets are ignored.
Result<TuningJob> ParseTuningJob(const Json& body);

/// The create body with the names of the API. Values that are defaults remain.
Result<Json> SpellTuningJob(const Json& body);

/// The document of a stored job. The error's message says what is wrong with it.
Result<TuningJob> TuningJobFromStoredJson(const Json& stored);
Json ToStoredJson(const TuningJob& job);

/// `plain` was read by TuningJobSchema() without a violation.
TuningJob TuningJobFromPlain(Json plain);

}  // namespace caip::vertex
