#pragma once
// An object's bytes as a response: the whole, the range that was asked for, or unpacked.

#include <cstdint>
#include <memory>

#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// Which bytes of an object a request gets.
struct ObjectContent {
  enum class Kind { kWhole, kPart, kUnpacked, kUnsatisfiable } kind = Kind::kWhole;
  uint64_t first = 0;
  uint64_t length = 0;
};

/// By the request's Range and Accept-Encoding. An object stored as gzip is unpacked for a client
/// that does not take gzip; no part of it can be asked for then.
ObjectContent ChooseContent(const http::Request& request, ObjectReader& reader);

/// Status, Content-Range and the like, and the body, from the page cache to the socket where a file
/// has the bytes. `request` tells a GET from a HEAD.
void AddContent(const http::Request& request, const std::shared_ptr<ObjectReader>& reader,
                const ObjectContent& content, http::Response* response);

}  // namespace caip::gcs
