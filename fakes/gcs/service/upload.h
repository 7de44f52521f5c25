#pragma once
// What an insert is told before its bytes come, whichever way they come.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/json/resource_json.h"
#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// An upload's destination and conditions. `info` has bucket, name and what the client chose.
struct UploadPlan {
  ObjectInfo info;
  Preconditions preconditions;
  ExpectedSums sums;
  std::optional<uint64_t> length;  // announced for a resumable upload
};

/// Reads query, resource (null: none) and the content type that goes with the data.
Result<UploadPlan> PlanUpload(const http::Request& request, const std::string& bucket,
                              const Json& resource, std::string_view content_type);

/// What the request's parameters and headers say of an object that comes into being: its access
/// control list, key and KMS key.
Status ApplyDestination(const http::Request& request, ObjectInfo* info);

/// ifGenerationMatch and its sisters; `prefix` is "if" or "ifSource".
Result<Preconditions> PreconditionsOf(const http::Request& request,
                                      const std::string& prefix = "if");

/// A parameter that is an int64, or nothing.
Result<std::optional<int64_t>> IntParameter(const http::Request& request, const std::string& name);

/// Moves the body's bytes into the writer, until its end. Answers how many there were.
Result<uint64_t> CopyBody(http::BodyReader& body, ObjectWriter& writer);

/// x-goog-hash and Content-MD5 of the request on top of `sums`.
Status AddHeaderSums(const http::Request& request, ExpectedSums* sums);

}  // namespace caip::gcs
