// PUT, DELETE, ?compose, and resumable uploads, whose sessions are those of the JSON API.
#include <charconv>

#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

// The query of a write: preconditions, canned ACL, and If-Match or If-None-Match as generations.
// A response: the write is refused.
std::optional<http::Response> WriteQuery(const XmlCall& call, QueryList* query) {
  const http::Headers& headers = call.request.headers;
  *query = PreconditionQuery(call.request);
  if (const std::string acl = Extension(call.request, "acl"); !acl.empty()) {
    query->emplace_back("predefinedAcl", CannedAcl(acl));
  }
  if (Trim(headers.Get("If-None-Match")) == "*") query->emplace_back("ifGenerationMatch", "0");
  if (!headers.Has("If-Match")) return std::nullopt;
  const JsonAnswer live = call.Json("GET", ObjectPath(call.place));
  if (!live.ok()) return call.Failure(live.response);
  if (auto refused = CheckReadConditions(call.request, live.json)) return refused;
  query->emplace_back("ifGenerationMatch", StringOr(live.json, "generation"));
  return std::nullopt;
}

// A body in chunks that are signed one by one is another coding than HTTP's.
bool IsSignedInChunks(const http::Request& request) {
  return request.headers.Get("x-amz-content-sha256").starts_with("STREAMING-") ||
         request.headers.Get("x-goog-content-sha256").starts_with("STREAMING-");
}

const char* const kSessionPaths = "/upload";

}  // namespace

http::Response PutObjectXml(const XmlCall& call) {
  if (IsSignedInChunks(call.request)) {
    return ToResponse(xml_errors::NotImplemented("A body signed in chunks (aws-chunked)"));
  }
  Insertion insertion{call.place.bucket, call.place.object, MetadataOf(call.request)};
  if (auto refused = WriteQuery(call, &insertion.query)) return std::move(*refused);
  const JsonAnswer made = call.services.storage.Insert(
      call.request, insertion, SumsOf(call.request), BoundaryFor(call), *call.request.body);
  return made.ok() ? Written(made.json) : call.Failure(made.response);
}

http::Response DeleteObjectXml(const XmlCall& call) {
  QueryList query = PreconditionQuery(call.request);
  for (const char* name : {"generation", "versionId"}) {
    if (call.request.HasQuery(name)) query.emplace_back("generation", call.request.Query(name));
  }
  const JsonAnswer gone = call.Json("DELETE", ObjectPath(call.place), std::move(query));
  return gone.ok() ? Nothing(204) : call.Failure(gone.response);
}

// PUT ?compose: <ComposeRequest><Component><Name/><Generation/><IfGenerationMatch/></Component>...
http::Response ComposeObjectXml(const XmlCall& call) {
  const auto body = XmlBody(call.request);
  if (!body.ok()) return MalformedXml(body.error());
  Json sources = Json::array();
  for (const XmlElement* component : body->All("Component")) {
    Json source = {{"name", component->TextOf("Name")}};
    const std::string generation = component->TextOf("Generation");
    const std::string match = component->TextOf("IfGenerationMatch");
    if (!generation.empty()) source["generation"] = generation;
    if (!match.empty()) source["objectPreconditions"] = {{"ifGenerationMatch", match}};
    sources.push_back(std::move(source));
  }
  QueryList query;
  if (auto refused = WriteQuery(call, &query)) return std::move(*refused);
  if (!query.empty() && query.back().first == "predefinedAcl") {
    query.back().first = "destinationPredefinedAcl";
  }
  Json destination = MetadataOf(call.request);
  // The body's own type is no type of the object, unless it is nothing that XML has.
  if (StringOr(destination, "contentType").find("xml") != std::string::npos) {
    destination.erase("contentType");
  }
  const JsonAnswer made =
      call.Json("POST", ObjectPath(call.place) + "/compose", std::move(query),
                Json{{"sourceObjects", std::move(sources)}, {"destination", destination}});
  return made.ok() ? Written(made.json) : call.Failure(made.response);
}

// POST with x-goog-resumable: start
http::Response StartSessionXml(const XmlCall& call) {
  QueryList query;
  if (auto refused = WriteQuery(call, &query)) return std::move(*refused);
  query.emplace_back("uploadType", "resumable");
  query.emplace_back("name", call.place.object);
  const Json metadata = MetadataOf(call.request);
  http::Headers headers;
  headers.Set("Content-Type", "application/json");
  headers.Set("X-Upload-Content-Type",
              StringOr(metadata, "contentType", "application/octet-stream"));
  if (const std::string sums = SumsOf(call.request); !sums.empty()) {
    headers.Set("x-goog-hash", sums);
  }
  for (const char* name : {"X-Upload-Content-Length"}) {
    if (call.request.headers.Has(name)) {
      headers.Set(name, std::string(call.request.headers.Get(name)));
    }
  }
  TextBody body(CompactJson(metadata));
  const http::Response started = call.services.storage.Send(
      call.request, "POST", kSessionPaths + BucketPath(call.place.bucket) + "/o", std::move(query),
      std::move(headers), &body);
  if (started.status != 200 || started.reset) return call.Failure(started);
  const std::string_view location = started.headers.Get("Location");
  const size_t at = location.find("upload_id=");
  const std::string id(location.substr(at, location.find('&', at) - at));
  http::Response response = Nothing(201);
  response.headers.Add(
      "Location", call.request.scheme + "://" + call.request.host + PathOf(call.place) + "?" + id);
  response.headers.Add("X-GUploader-UploadID",
                       std::string(started.headers.Get("X-GUploader-UploadID")));
  return response;
}

// PUT (a piece, or the question where it stands) and DELETE of a session's URL.
http::Response UseSessionXml(const XmlCall& call) {
  http::Headers headers;
  for (const auto& [name, value] : call.request.headers.all()) {
    const std::string lower = LowerCase(name);
    if (lower == "content-range" || lower == "content-length" || lower == "x-goog-hash" ||
        lower == "content-md5" || lower == "x-guploader-no-308") {
      headers.Add(name, value);
    }
  }
  http::Response response = call.services.storage.Send(
      call.request, call.request.method, kSessionPaths + BucketPath(call.place.bucket) + "/o",
      {{"uploadType", "resumable"}, {"upload_id", std::string(call.request.Query("upload_id"))}},
      std::move(headers), call.request.body);
  if (response.status == 308 || response.status == 499 || response.reset ||
      response.headers.Has("X-Http-Status-Code-Override")) {
    return response;
  }
  if (response.status != 200) return call.Failure(std::move(response));
  const auto object = ParseJson(response.body);
  return object.ok() && !response.write_body ? Written(*object) : std::move(response);
}

}  // namespace caip::gcs
