#pragma once
// API JSON -> CustomJob (proto3 JSON mapping), and the tree of a CustomJob -> API JSON.

#include "base/json_fwd.h"
#include "base/result.h"
#include "google/transcoder.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// Reads a create body. Names may be lowerCamelCase and snake_case in one object, enums names or
/// numbers, integers numbers (also 1.0) or texts; null is absent. Fields that only the service sets
/// are ignored. Collects all unknown names and wrong types, worded as the service's transcoder does
/// (docs/service/api.md, section 5).
Result<CustomJob> ParseCustomJob(const Json& body);

/// The create body with the names of the API. Values that are defaults remain, because the service
/// refuses some of them where a missing value is valid.
Result<Json> SpellCustomJob(const Json& body);

/// The document of a stored job. The error's message says what is wrong with it.
Result<CustomJob> FromStoredJson(const Json& stored);
/// The document as the store keeps it: the names of the API.
Json ToStoredJson(const CustomJob& job);

/// `plain` was read by CustomJobSchema() without a violation.
CustomJob CustomJobFromPlain(Json plain);

}  // namespace caip::vertex
