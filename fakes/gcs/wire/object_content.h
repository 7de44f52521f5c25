#pragma once
// Responses with an object's bytes: all of them, the requested range, or unpacked.

#include <cstdint>
#include <memory>

#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// Describes which bytes of an object the response has.
struct ObjectContent {
  enum class Kind { kWhole, kPart, kUnpacked, kUnsatisfiable } kind = Kind::kWhole;
  uint64_t first = 0;
  uint64_t length = 0;
};

/// Reads the request's Range and Accept-Encoding. An object stored as gzip is unpacked for a client
/// that does not accept gzip; ranges are then ignored.
ObjectContent ChooseContent(const http::Request& request, ObjectReader& reader);

/// Adds the status, headers such as Content-Range, headers that keep a browser from running
/// scripts, and the body, which goes from the page cache to the socket if a file has the bytes. A
/// HEAD request gets no body.
void AddContent(const http::Request& request, const std::shared_ptr<ObjectReader>& reader,
                const ObjectContent& content, http::Response* response);

}  // namespace caip::gcs
