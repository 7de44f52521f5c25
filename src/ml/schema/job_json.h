#pragma once
// Job <-> API JSON (proto3 JSON mapping). The only place with the API's field names.

#include "base/json_fwd.h"
#include "base/result.h"
#include "ml/job.h"

namespace caip::ml {

/// Reads a create body: lowerCamelCase or snake_case names, int64 as text or number, durations as
/// "3600s", enums by name (or number). Unknown names, wrong types and unknown enum values are all
/// collected, worded as the service's transcoder does (docs/service/api.md, section 5).
Result<Job> ParseJob(const Json& body);

/// The Job as the API answers it: default-valued fields left out, int64 as text, times in whole
/// seconds UTC.
Json ToJson(const Job& job);

/// The Job as the store keeps it: the same names, but times with nanoseconds.
Json ToStoredJson(const Job& job);
Result<Job> FromStoredJson(const Json& stored);

/// TrainingInput with the proto's snake_case names, as TF_CONFIG's `job` shows it.
Json ToSnakeCaseJson(const TrainingInput& input);

}  // namespace caip::ml
