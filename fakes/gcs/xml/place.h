#pragma once
// The bucket and object of an XML request, from its path or from its host and path.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::gcs {

/// Names an object, a bucket (`object` is "") or the service itself (both are "").
struct Place {
  std::string bucket;
  std::string object;
  bool bucket_in_host = false;  // <bucket>.storage.googleapis.com
};

/// True for requests to the XML API: at storage.googleapis.com all but the paths of the JSON API,
/// at <bucket>.storage.googleapis.com everything, and elsewhere every path whose first segment
/// could be a bucket's name and does not belong to another API. Old C++ clients add the prefix
/// "/xmlapi/".
bool IsXmlRequest(const http::Request& request);

/// kInvalidArgument if an escape is malformed.
Result<Place> PlaceOf(const http::Request& request);

/// The path of a URL of that place on the request's own host, %-encoded.
std::string PathOf(const Place& place);

}  // namespace caip::gcs
