
#include "fakes/gcs/xml/xml_api.h"

#include <charconv>

#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

using http::Request;
using http::Response;

bool IsForm(const Request& request) {
  return LowerCase(request.headers.Get("Content-Type")).starts_with("multipart/form-data");
}

Error NotAllowed(const Request& request, const char* what) {
  return xml_errors::MethodNotAllowed(request.method, what);
}

Result<Response> HandleServiceRequest(const XmlCall& call) {
  const std::string& method = call.request.method;
  if (method == "GET" || method == "HEAD") return ListBucketsXml(call);
  return NotAllowed(call.request, "the service");
}

Result<Response> HandleBucketRequest(const XmlCall& call) {
  const Request& request = call.request;
  if (request.method == "POST") {
    if (request.HasQuery("delete")) return DeleteManyXml(call);
    if (IsForm(request)) return FormUploadXml(call);
    return NotAllowed(request, "a bucket");
  }
  if (const char* setting = SettingNameIn(request)) return BucketSettingXml(call, setting);
  if (request.method == "GET" && request.HasQuery("uploads")) return ListUploadsXml(call);
  if (request.method == "GET") return ListObjectsXml(call);
  if (request.method == "HEAD") return HeadBucketXml(call);
  if (request.method == "PUT") return PutBucketXml(call);
  if (request.method == "DELETE") return DeleteBucketXml(call);
  return NotAllowed(request, "a bucket");
}

Result<Response> HandleObjectPut(const XmlCall& call) {
  const Request& request = call.request;
  if (request.HasQuery("upload_id")) return UseSessionXml(call);
  if (request.HasQuery("compose")) return ComposeObjectXml(call);
  const bool copies = !Extension(request, "copy-source").empty();
  if (request.HasQuery("uploadId")) {
    if (copies) return xml_errors::NotImplemented("A part copied from an object");
    return PutPartXml(call);
  }
  return copies ? CopyObjectXml(call) : PutObjectXml(call);
}

Result<Response> HandleObjectPost(const XmlCall& call) {
  const Request& request = call.request;
  if (request.HasQuery("uploads")) return BeginUploadXml(call);
  if (request.HasQuery("uploadId")) return CompleteUploadXml(call);
  if (request.HasQuery("upload_id")) return UseSessionXml(call);
  if (LowerCase(request.headers.Get("x-goog-resumable")) == "start") return StartSessionXml(call);
  return NotAllowed(request, "an object");
}

Result<Response> HandleObjectDelete(const XmlCall& call) {
  if (call.request.HasQuery("uploadId")) return AbortUploadXml(call);
  if (call.request.HasQuery("upload_id")) return UseSessionXml(call);
  return DeleteObjectXml(call);
}

Result<Response> HandleObjectRequest(const XmlCall& call) {
  const Request& request = call.request;
  for (const char* missing : {"tagging", "retention", "legal-hold", "torrent", "restore",
                              "attributes", "select", "renameFolder"}) {
    if (request.HasQuery(missing)) {
      return xml_errors::NotImplemented("An object's ?" + std::string(missing));
    }
  }
  if (request.HasQuery("acl")) return AccessListXml(call, "acl");
  if (request.method == "PUT") return HandleObjectPut(call);
  if (request.method == "POST") return HandleObjectPost(call);
  if (request.method == "DELETE") return HandleObjectDelete(call);
  if (request.method == "GET" || request.method == "HEAD") {
    return request.HasQuery("uploadId") ? ListPartsXml(call) : ReadObjectXml(call);
  }
  return NotAllowed(request, "an object");
}

}  // namespace

XmlApi::XmlApi(XmlApiOptions options, const KeyRing& keys, const Clock& wall)
    : services_(new XmlServices{
          std::move(options.service), std::move(options.faults),
          SignatureCheck(keys, wall, options.signatures), wall,
          PartUploads(std::move(options.uploads), wall, Random(options.seed).Fork("xml"))}) {}

XmlApi::~XmlApi() = default;

Response XmlApi::Handle(const Request& request) const {
  const auto place = PlaceOf(request);
  if (!place.ok()) return XmlErrorResponse(place.error(), {});
  const bool form = request.method == "POST" && IsForm(request);  // its policy is signed
  const bool session = request.HasQuery("upload_id");             // knowing the URL is enough
  if (!form && !session) {
    if (const auto flaw = services_->signatures.Check(request, place->bucket)) {
      return XmlErrorResponse(*flaw);
    }
  }
  const XmlCall call{request, *place, *services_};
  auto response = place->bucket.empty()   ? HandleServiceRequest(call)
                  : place->object.empty() ? HandleBucketRequest(call)
                                          : HandleObjectRequest(call);
  return response.ok() ? std::move(*response) : XmlErrorResponse(response.error(), *place);
}

namespace {

constexpr size_t kXmlBytesMax = 4 << 20;  // enough for 10,000 parts or keys

}  // namespace

http::Response XmlResponse(const XmlElement& root, int status) {
  http::Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  response.body = XmlDocument(root);
  return response;
}

XmlElement XmlRoot(const std::string& name, const std::string& xmlns) {
  XmlElement root(name);
  root.attributes.emplace_back("xmlns", xmlns);
  return root;
}

Result<XmlElement> XmlBody(const http::Request& request) {
  const auto text = request.ReadBody(kXmlBytesMax);
  if (!text.ok()) return xml_errors::MalformedXml(text.error().message);
  if (Trim(*text).empty()) return XmlElement();
  return ParseXml(*text);
}

http::Response EmptyResponse(int status) {
  http::Response response;
  response.status = status;
  return response;
}

http::Response WrittenResponse(const ObjectInfo& object) {
  http::Response response;
  AddWriteHeaders(object, &response.headers);
  response.headers.Add("Content-Type", "text/html; charset=UTF-8");
  return response;
}

std::optional<int> ParseCount(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<http::Response> AnswerUpload(
    const XmlCall& call, http::BodyReader& bytes, uint64_t offset,
    const std::function<Result<http::Response>(http::BodyReader& bytes)>& store) {
  http::Request request = call.request;
  request.body = &bytes;
  const auto render = [&](const Error& error) { return XmlErrorResponse(error, call.place); };
  return call.services.faults.Run(
      "storage.objects.insert", request, {FaultSite::Kind::kUpload, offset, false}, render,
      [&](const http::Request& limited) {
        auto stored = store(*limited.body);
        return stored.ok() ? std::move(*stored) : render(stored.error());
      });
}

}  // namespace caip::gcs
