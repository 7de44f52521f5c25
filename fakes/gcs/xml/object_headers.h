#pragma once
// Converts an object's metadata to headers and back. Reads x-amz-... headers like x-goog-... ones,
// for clients that were written for Amazon S3.

#include <optional>
#include <string>
#include <string_view>

#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// The MD5 sum in hex, in quotes; for an object without one (composite), a tag that begins with -.
std::string XmlEtag(const ObjectInfo& object);

/// The value of x-goog-<name>, else of x-amz-<name>, else "".
std::string Extension(const http::Request& request, const std::string& name);

/// The headers of the response to a GET or HEAD, except the length. `with_sums`: also x-goog-hash.
void AddObjectHeaders(const ObjectInfo& object, http::Headers* headers, bool with_sums = true);
/// The headers of the response to a write: ETag, generation, checksums, stored length.
void AddWriteHeaders(const ObjectInfo& object, http::Headers* headers);

/// Sets the metadata that the headers of a write give: content type and the like, storage class,
/// custom time and x-goog-meta-... Other metadata is unchanged.
void ApplyMetadataHeaders(const http::Request& request, ObjectInfo* object);

/// Converts "public-read" to "publicRead". Other text is unchanged.
std::string CannedAcl(std::string_view canned);
/// Sets the access list of a canned ACL. "" changes nothing.
Status ApplyCannedAcl(const std::string& canned, ObjectInfo* object);

/// x-goog-if-generation-match and x-goog-if-metageneration-match.
Result<Preconditions> PreconditionHeaders(const http::Request& request);
/// The version that `generation` or `versionId` in the query names.
Result<Version> VersionInQuery(const http::Request& request);

/// Checks If-Match, If-None-Match and so on for an object that exists. Returns a 304 response, or
/// nullopt if the request may proceed.
Result<std::optional<http::Response>> CheckMatchHeaders(const http::Request& request,
                                                        const ObjectInfo& object);

}  // namespace caip::gcs
