#include "fakes/gcs/xml/place.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/xml/xml_errors.h"

namespace caip::gcs {
namespace {

constexpr std::string_view kServiceHost = "storage.googleapis.com";
constexpr std::string_view kOldPrefix = "/xmlapi";

// The first path segments of the other APIs on the same port.
constexpr std::string_view kTaken[] = {
    "storage",  "upload",     "resumable",   "download",       "batch",
    "b",        "v1",         "v2",          "discovery",      "$discovery",
    "emulator", "retry_test", "retry_tests", "computeMetadata"};

std::string HostOf(const http::Request& request) {
  return LowerCase(request.host.substr(0, request.host.find(':')));
}

// "" if the host has no bucket.
std::string BucketInHost(const http::Request& request) {
  const std::string host = HostOf(request);
  if (host.size() <= kServiceHost.size() + 1 || !host.ends_with(kServiceHost)) return "";
  const size_t dot = host.size() - kServiceHost.size() - 1;
  return host[dot] == '.' ? host.substr(0, dot) : "";
}

std::string_view WithoutOldPrefix(std::string_view path) {
  const bool has_prefix = path.starts_with(kOldPrefix) &&
                          (path.size() == kOldPrefix.size() || path[kOldPrefix.size()] == '/');
  return has_prefix ? path.substr(kOldPrefix.size()) : path;
}

std::string_view FirstSegment(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

bool IsTaken(std::string_view segment) {
  return std::find(std::begin(kTaken), std::end(kTaken), segment) != std::end(kTaken);
}

// "/v1beta1/projects/...": an unsupported version of another API, which gets that API's 404. (For a
// bucket of that name, only the JSON API reaches the objects below projects/.)
bool IsApiVersion(std::string_view path) {
  const std::string_view version = FirstSegment(path);
  if (version.size() < 2 || version[0] != 'v' || version[1] < '0' || version[1] > '9') return false;
  if (version.find_first_not_of("0123456789abehlpt", 1) != version.npos) return false;
  return FirstSegment(path.substr(path.find(version) + version.size())) == "projects";
}

// Clients of the XML API sign requests to "/". Browsers and clients that look for a metadata server
// do not.
bool IsServiceRequest(const http::Request& request) {
  const std::string_view authorization = request.headers.Get("Authorization");
  for (const std::string_view scheme : {"GOOG1 ", "GOOG4-", "AWS ", "AWS4-"}) {
    if (authorization.starts_with(scheme)) return true;
  }
  return false;
}

}  // namespace

bool IsXmlRequest(const http::Request& request) {
  if (!BucketInHost(request).empty()) return true;
  const std::string host = HostOf(request);
  const std::string_view segment = FirstSegment(WithoutOldPrefix(request.path));
  if (host == kServiceHost) return !IsTaken(segment);
  if (host.ends_with(".googleapis.com") || host.ends_with(".google.internal")) return false;
  const bool old_prefix = WithoutOldPrefix(request.path) != request.path;
  if (segment.empty()) return old_prefix || IsServiceRequest(request);
  if (IsTaken(segment)) return old_prefix;
  if (!old_prefix && (IsApiVersion(request.path) || IsAliasPath(request.path))) return false;
  return !BucketNameProblem(PercentDecoded(segment).value_or(""));
}

Result<Place> PlaceOf(const http::Request& request) {
  const auto decoded = [](std::string_view raw) -> Result<std::string> {
    auto text = PercentDecoded(raw);
    if (text) return std::move(*text);
    return xml_errors::InvalidUri("The request's path has a broken escape.");
  };
  std::string_view path = WithoutOldPrefix(request.path);
  if (path.starts_with('/')) path.remove_prefix(1);
  Place place;
  place.bucket = BucketInHost(request);
  place.bucket_in_host = !place.bucket.empty();
  if (!place.bucket_in_host) {
    const size_t slash = path.find('/');
    ASSIGN_OR_RETURN(place.bucket, decoded(path.substr(0, slash)));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  ASSIGN_OR_RETURN(place.object, decoded(path));
  return place;
}

std::string PathOf(const Place& place) {
  const std::string object = "/" + PercentEncoded(place.object, "/");
  return place.bucket_in_host ? object : "/" + PercentEncoded(place.bucket) + object;
}

}  // namespace caip::gcs
