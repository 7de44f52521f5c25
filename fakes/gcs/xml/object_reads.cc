// GET and HEAD of an object. The JSON API tells the metadata and streams the bytes.
#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr int kTries = 3;

// response-content-type=... and its sisters, which a signed URL may carry.
void Override(const http::Request& request, http::Headers* headers) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"response-content-type", "Content-Type"},
      {"response-content-disposition", "Content-Disposition"},
      {"response-content-language", "Content-Language"},
      {"response-content-encoding", "Content-Encoding"},
      {"response-cache-control", "Cache-Control"},
      {"response-expires", "Expires"}};
  for (const auto& [parameter, header] : kNames) {
    if (request.HasQuery(parameter)) headers->Set(header, std::string(request.Query(parameter)));
  }
}

QueryList ReadQuery(const http::Request& request) {
  QueryList query = PreconditionQuery(request);
  for (const char* name : {"generation", "versionId"}) {
    if (request.HasQuery(name)) query.emplace_back("generation", request.Query(name));
  }
  return query;
}

// The bytes of this generation, with the headers that only XML tells.
http::Response Download(const XmlCall& call, const Json& object) {
  http::Headers headers;
  for (const char* name : {"Range", "Accept-Encoding"}) {
    if (call.request.headers.Has(name))
      headers.Set(name, std::string(call.request.headers.Get(name)));
  }
  http::Response response =
      call.services.storage.Send(call.request, "GET", "/download" + ObjectPath(call.place),
                                 {{"alt", "media"}, {"generation", StringOr(object, "generation")}},
                                 std::move(headers), nullptr);
  if (response.status != 200 && response.status != 206) return response;
  http::Headers all;
  AddObjectHeaders(object, &all);
  for (const auto& [name, value] : response.headers.all()) {
    if (LowerCase(name) != "etag") all.Set(name, value);
  }
  response.headers = std::move(all);
  return response;
}

}  // namespace

http::Response ReadObjectXml(const XmlCall& call) {
  const bool head = call.request.method == "HEAD";
  for (int tries = 1;; ++tries) {
    const JsonAnswer object = call.Json("GET", ObjectPath(call.place), ReadQuery(call.request));
    if (!object.ok()) return call.Failure(object.response);
    if (auto answered = CheckReadConditions(call.request, object.json)) return std::move(*answered);
    http::Response response;
    if (head) {
      AddObjectHeaders(object.json, &response.headers);
      response.content_length = IntOr(object.json, "size", 0);
      response.write_body = [](const http::Response::Sink&) {};
    } else {
      response = Download(call, object.json);
      // Overwritten between the two looks: look again.
      const bool raced = response.status == 404 && !call.request.HasQuery("generation");
      if (raced && tries < kTries) continue;
      if (response.status != 200 && response.status != 206) return call.Failure(response);
    }
    if (!response.headers.Has("Content-Type")) {
      response.headers.Set("Content-Type", "application/octet-stream");
    }
    Override(call.request, &response.headers);
    return response;
  }
}

}  // namespace caip::gcs
