#pragma once
// The Job and its parts as JSON schemas, made from the tables by which they are read and written.

#include "base/json_fwd.h"

namespace caip::api {

/// Adds GoogleCloudMlV1__Job and all it is made of.
void AddJobSchemas(Json& schemas);

}  // namespace caip::api
