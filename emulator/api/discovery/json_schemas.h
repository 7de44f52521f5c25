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

/// The same for v1beta1: GoogleCloudAiplatformV1beta1CustomJob and so on, with the fields that v1
/// does not have.
void AddVertexBetaSchemas(Json& schemas);

/// How the names of messages of Vertex AI begin in v1, and in v1beta1.
inline constexpr char kVertexSchemas[] = "GoogleCloudAiplatformV1";
inline constexpr char kVertexBetaSchemas[] = "GoogleCloudAiplatformV1beta1";

/// Returns a body of a message type with the JSON names of its fields, which may have their proto
/// names ("update_mask"), and without members that are null. What the type does not describe stays.
Json WithJsonNames(const Json& body, const Json& schemas, std::string_view message);

/// Checks a body against a message type. kInvalidArgument lists all unknown names and values of a
/// wrong type, with the texts of the service's transcoder.
Status CheckMessage(const Json& body, const Json& schemas, std::string_view message);

}  // namespace caip::api
