#pragma once
// Which bucket and object an XML request means: by its path, or by its host and path.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::gcs {

/// Both may be "": the service itself, or a bucket.
struct Place {
  std::string bucket;
  std::string object;
  bool bucket_in_host = false;  // <bucket>.storage.googleapis.com
};

/// True for what the XML API answers. At storage.googleapis.com that is all but the JSON API's
/// paths, at <bucket>.storage.googleapis.com everything, and elsewhere every path whose first
/// segment could be a bucket and is the beginning of no other API. "/xmlapi/" is a prefix that old
/// C++ clients put in front.
bool IsXmlRequest(const http::Request& request);

/// kInvalidArgument where an escape is broken.
Result<Place> PlaceOf(const http::Request& request);

/// The path of a URL of that place on the request's own host, %-encoded.
std::string PathOf(const Place& place);

}  // namespace caip::gcs
