#pragma once
// JSON schemas of messages. They are made from the tables that read and write jobs, and check the
// bodies of requests.

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::api {

/// Adds GoogleCloudMlV1__Job and all messages in it.
void AddJobSchemas(Json& schemas);
/// Adds GoogleCloudAiplatformV1CustomJob, ...HyperparameterTuningJob, ...TrainingPipeline and all
/// messages in them.
void AddVertexSchemas(Json& schemas);

/// Checks a body against a message type. kInvalidArgument lists all unknown names and values of a
/// wrong type, with the texts of the service's transcoder.
Status CheckMessage(const Json& body, const Json& schemas, std::string_view message);

}  // namespace caip::api
