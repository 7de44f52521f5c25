
#include "fakes/gcs/xml/xml_api.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

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

// Parameters that name a part of a bucket or an object. With one that the method does not have, the
// request does not mean the whole: DELETE /bucket?uploads deletes no bucket.
constexpr std::string_view kPartNames[] = {"uploads", "delete", "compose", "uploadId", "upload_id"};

// Parameters that name a version of an object, or a part of an upload.
constexpr std::string_view kObjectNames[] = {"generation", "versionId", "versions", "partNumber"};

bool IsOneOf(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool NamesPart(const Request& request) {
  return std::any_of(request.query.begin(), request.query.end(),
                     [](const auto& item) { return IsOneOf(kPartNames, item.first); });
}

// Options that change no meaning, also without a value: those of all Google APIs, those of traces,
// those of signatures, and those that the S3 API ignores in a write ("x-id", "response-expires").
constexpr std::string_view kOptions[] = {
    "",          "alt",         "fields",     "key",        "prettyprint",
    "quotauser", "traceparent", "tracestate", "userproject"};

bool IsOption(std::string_view parameter) {
  const std::string name = LowerCase(parameter);
  return IsOneOf(kOptions, name) || name.starts_with("x-") || name.starts_with("response-");
}

// For requests that change a bucket or an object. Each parameter without a value names a part, also
// one that is not known here, unless it is an option or one of `others`.
bool MayNamePart(const Request& request, std::span<const std::string_view> others = {}) {
  const auto may_name = [&](const auto& item) {
    const bool is_option = IsOption(item.first) || IsOneOf(others, item.first);
    return IsOneOf(kPartNames, item.first) || (item.second.empty() && !is_option);
  };
  return std::any_of(request.query.begin(), request.query.end(), may_name);
}

// Empty ones name the live version.
constexpr std::string_view kVersionNames[] = {"generation", "versionId"};

bool MayNameObjectPart(const Request& request) { return MayNamePart(request, kVersionNames); }

bool NamesObjectPart(const Request& request) {
  return std::any_of(request.query.begin(), request.query.end(),
                     [](const auto& item) { return IsOneOf(kObjectNames, item.first); });
}

Result<Response> HandleServiceRequest(const XmlCall& call) {
  const std::string& method = call.request.method;
  if (method == "GET" || method == "HEAD") return ListBucketsXml(call);
  return NotAllowed(call.request, "the service");
}

Result<Response> HandleBucketPost(const XmlCall& call) {
  if (call.request.HasQuery("delete")) return DeleteManyXml(call);
  if (IsForm(call.request)) return FormUploadXml(call);
  return NotAllowed(call.request, "a bucket");
}

Result<Response> HandleBucketRequest(const XmlCall& call) {
  const Request& request = call.request;
  if (request.method == "POST") return HandleBucketPost(call);
  if (const char* setting = SettingNameIn(request)) return BucketSettingXml(call, setting);
  if (request.method == "GET" && request.HasQuery("uploads")) return ListUploadsXml(call);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads ? NamesPart(request) : MayNamePart(request) || NamesObjectPart(request)) {
    return NotAllowed(request, "this part of a bucket");
  }
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
  if (request.HasQuery("partNumber")) {
    return xml_errors::InvalidArgument("partNumber needs uploadId, the upload of the part");
  }
  if (MayNameObjectPart(request)) return NotAllowed(request, "this part of an object");
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
  if (MayNameObjectPart(call.request)) return NotAllowed(call.request, "this part of an object");
  return DeleteObjectXml(call);
}

Result<Response> HandleObjectRead(const XmlCall& call) {
  if (call.request.HasQuery("uploadId")) return ListPartsXml(call);
  if (NamesPart(call.request)) return NotAllowed(call.request, "this part of an object");
  return ReadObjectXml(call);
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
  if (request.method == "GET" || request.method == "HEAD") return HandleObjectRead(call);
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
