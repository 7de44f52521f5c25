#pragma once
// The texts that are signed: V4's canonical request and string to sign, and V2's string to sign.
// https://cloud.google.com/storage/docs/authentication/canonical-requests

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace caip::gcs {

/// The host and path for which the client signed.
struct SignedTarget {
  std::string host;
  std::string path;  // as in the canonical request, %-encoded
};

/// `query` is decoded; it must not contain the signature itself. `signed_headers` are lower-case
/// names; "host" is `target.host`. `payload_hash` is hex, or UNSIGNED-PAYLOAD.
std::string CanonicalRequest(const http::Request& request, const SignedTarget& target,
                             const std::vector<std::string>& signed_headers,
                             std::string_view payload_hash);

/// `algorithm`: "GOOG4-RSA-SHA256". `timestamp`: "20190201T090000Z". `scope`:
/// "20190201/auto/storage/goog4_request".
std::string StringToSign(std::string_view algorithm, std::string_view timestamp,
                         std::string_view scope, std::string_view canonical_request);

/// Derives the signing key for a scope from an HMAC secret. `family` is "GOOG4" or "AWS4".
std::string SigningKey(std::string_view family, std::string_view secret, std::string_view scope);

/// The string to sign of V2. `time` is the Expires parameter or the Date header; `resource` is
/// "/bucket/object"; `prefix` is "x-goog-" or "x-amz-".
std::string StringToSignV2(const http::Request& request, std::string_view time,
                           std::string_view resource, std::string_view prefix);

}  // namespace caip::gcs
