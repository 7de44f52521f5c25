#pragma once
// An object's metadata as headers, and headers as its metadata. x-amz-... names are read wherever
// x-goog-... ones are, for clients that were written for the other store.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "fakes/gcs/xml/json_storage.h"
#include "http/message.h"

namespace caip::gcs {

/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(Instant instant);
std::optional<Instant> ParseHttpDate(std::string_view text);

/// The MD5 sum in hex, in quotes; for an object without one (composite), a tag that begins with -.
std::string XmlEtag(const Json& object);

/// The value of x-goog-<name>, else of x-amz-<name>, else "".
std::string Extension(const http::Request& request, const std::string& name);

/// Everything that a GET or HEAD tells of an object beside its length.
void AddObjectHeaders(const Json& object, http::Headers* headers);
/// What the answer to a write tells: ETag, generation, sums, stored length.
void AddWriteHeaders(const Json& object, http::Headers* headers);

/// The object resource that a PUT's headers describe.
Json MetadataOf(const http::Request& request);
/// x-goog-hash and Content-MD5 as one x-goog-hash, or "".
std::string SumsOf(const http::Request& request);

/// "public-read" -> "publicRead"; what is no canned ACL stays as it is.
std::string CannedAcl(std::string_view canned);

/// x-goog-if-generation-match and x-goog-if-metageneration-match as JSON parameters.
QueryList PreconditionQuery(const http::Request& request);

/// If-Match and its sisters, on an object that is there. nullopt: go on.
std::optional<http::Response> CheckReadConditions(const http::Request& request, const Json& object);

}  // namespace caip::gcs
