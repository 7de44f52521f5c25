#pragma once
// Single values of the proto3 JSON mapping: numbers, texts, enums, times.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "google/message_schema.h"
#include "google/transcoder.h"

namespace caip::google {

/// Reads one value of a field that is no message and no map. `path` is the field's, `name` is the
/// spelling that was sent. The error holds one violation.
Result<Json> ReadScalar(const Json& value, const FieldSchema& field, const std::string& path,
                        const std::string& name);

/// The inverse: int64 as text, times as RFC 3339, bytes as base64.
Json WriteScalar(const Json& plain, FieldKind kind, const WriteStyle& style);

/// "type.googleapis.com/google.cloud.ml.v1.Job", as errors name a type.
std::string TypeUrl(std::string_view type);

}  // namespace caip::google
