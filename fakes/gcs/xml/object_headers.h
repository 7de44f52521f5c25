#pragma once
// An object's metadata as headers, and headers as its metadata. x-amz-... names are read wherever
// x-goog-... ones are, for clients that were written for Amazon S3.

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

/// The headers of the response to a GET or HEAD, except the length.
void AddObjectHeaders(const ObjectInfo& object, http::Headers* headers);
/// The headers of the response to a write: ETag, generation, checksums, stored length.
void AddWriteHeaders(const ObjectInfo& object, http::Headers* headers);

/// Sets the metadata that the headers of a write name: content type and the like, storage class,
/// custom time and x-goog-meta-... Other metadata is unchanged.
void ApplyMetadataHeaders(const http::Request& request, ObjectInfo* object);

/// Converts "public-read" to "publicRead". Other text is unchanged.
std::string CannedAcl(std::string_view canned);
/// Gives the object the access list of that canned ACL; "" none.
Status ApplyCannedAcl(const std::string& canned, ObjectInfo* object);

/// x-goog-if-generation-match and x-goog-if-metageneration-match.
Result<Preconditions> PreconditionHeaders(const http::Request& request);
/// The generation (or versionId) that the query names.
Result<Version> VersionInQuery(const http::Request& request);

/// Checks If-Match, If-None-Match and so on for an object that exists. Returns a 304 response, or
/// nullopt if the request may proceed.
Result<std::optional<http::Response>> CheckMatchHeaders(const http::Request& request,
                                                        const ObjectInfo& object);

}  // namespace caip::gcs
