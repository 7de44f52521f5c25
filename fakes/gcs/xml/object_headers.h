#pragma once
// An object's metadata as headers, and headers as its metadata. x-amz-... names are read wherever
// x-goog-... ones are, for clients that were written for the other store.

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

/// Everything that the answer to a GET or HEAD says of an object beside its length.
void AddObjectHeaders(const ObjectInfo& object, http::Headers* headers);
/// What the answer to a write says: ETag, generation, sums, stored length.
void AddWriteHeaders(const ObjectInfo& object, http::Headers* headers);

/// Sets what the headers of a write describe: content type and the like, storage class, custom time
/// and x-goog-meta-... What they do not name stays.
void ApplyMetadataHeaders(const http::Request& request, ObjectInfo* object);

/// "public-read" -> "publicRead"; what is no canned ACL stays as it is.
std::string CannedAcl(std::string_view canned);
/// Gives the object the access list of that canned ACL; "" none.
Status ApplyCannedAcl(const std::string& canned, ObjectInfo* object);

/// x-goog-if-generation-match and x-goog-if-metageneration-match.
Result<Preconditions> PreconditionHeaders(const http::Request& request);
/// The generation (or versionId) that the query names.
Result<Version> VersionInQuery(const http::Request& request);

/// If-Match and its sisters, on an object that exists. The response is a 304; nullopt: go on.
Result<std::optional<http::Response>> CheckMatchHeaders(const http::Request& request,
                                                        const ObjectInfo& object);

}  // namespace caip::gcs
