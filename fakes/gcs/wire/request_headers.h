#pragma once
// Headers with the same meaning in the JSON and the XML API: checksums, customer-supplied keys,
// ranges of downloads, pieces of resumable uploads, and dates.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "fakes/gcs/service/uploads.h"
#include "http/message.h"

namespace caip::gcs {

/// Digits only; nullopt for anything else and on overflow.
std::optional<uint64_t> ParseNumber(std::string_view text);
/// Parses the value of the parameter or header `name`. "" is nullopt.
Result<std::optional<int64_t>> ParseInt(std::string_view name, std::string_view text);
/// Parses a generation. kInvalidArgument if it is negative.
Result<std::optional<int64_t>> ParseGeneration(std::string_view name, std::string_view text);

/// Adds x-goog-hash and Content-MD5 of the request to `sums`.
Status AddHeaderSums(const http::Request& request, ExpectedSums* sums);

/// Customer-supplied encryption keys. The bytes on disk are not encrypted, but only a client that
/// sends the key can read them, as with the real service.
/// https://cloud.google.com/storage/docs/encryption/customer-supplied-keys
inline constexpr const char* kKeyHeaders = "x-goog-encryption-";
inline constexpr const char* kSourceKeyHeaders = "x-goog-copy-source-encryption-";
/// The SHA-256 (base64) of the key in the headers <prefix>algorithm, -key and -key-sha256; "" if
/// they are missing. kInvalidArgument if they contradict each other.
Result<std::string> CustomerKeySha256(const http::Request& request,
                                      const char* prefix = kKeyHeaders);

/// Reads upload_id, range and checksums of a request to a resumable upload's URL.
Result<UploadPiece> ReadUploadPiece(const http::Request& request);
/// A 308 with the range received so far, or the same in a 200 for clients that cannot handle a 308.
http::Response UploadIncomplete(const http::Request& request, uint64_t received);

/// The format of RFC 9110: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(Instant instant);
std::optional<Instant> ParseHttpDate(std::string_view text);

/// The meaning of a Range header for a body of known size.
struct RequestedRange {
  enum class Kind { kWhole, kPart, kUnsatisfiable } kind;
  uint64_t first = 0;
  uint64_t length = 0;
};

/// Several ranges, and anything that is not a byte range, mean the whole body (RFC 9110, 14.2).
RequestedRange ParseRange(std::string_view header, uint64_t size);

/// nullopt if the header is malformed or contradicts itself.
std::optional<ContentRange> ParseContentRange(std::string_view header);

}  // namespace caip::gcs
