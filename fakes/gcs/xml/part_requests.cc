// Multipart uploads: begin, put a part, complete, abort, list.
// https://cloud.google.com/storage/docs/multipart-uploads
#include <charconv>

#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kListMax = 1000;

std::string QuotedEtag(const std::string& text) { return '"' + text + '"'; }

std::string Unquoted(std::string_view text) {
  text = Trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

std::optional<int> NumberPartRequests(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<PartUpload> UploadOf(const XmlCall& call) {
  return call.services.uploads.Find(std::string(call.request.Query("uploadId")), call.place.bucket,
                                    call.place.object);
}

// The parts that a CompleteMultipartUpload names, checked against those that are here.
std::optional<XmlError> Chosen(const XmlElement& body, const std::vector<UploadedPart>& here,
                               std::vector<UploadedPart>* chosen) {
  for (const XmlElement* wanted : body.All("Part")) {
    const auto number = NumberPartRequests(wanted->TextOf("PartNumber"));
    if (!number) return xml_errors::MalformedXml("a Part needs a PartNumber");
    if (!chosen->empty() && *number <= chosen->back().number) return xml_errors::InvalidPartOrder();
    const auto part = std::find_if(here.begin(), here.end(),
                                   [&](const auto& known) { return known.number == *number; });
    const std::string which = "part " + std::to_string(*number);
    if (part == here.end()) return xml_errors::InvalidPart(which);
    if (Unquoted(wanted->TextOf("ETag")) != part->md5) return xml_errors::InvalidPart(which);
    if (!chosen->empty() && chosen->back().size < kPartBytesMin) {
      return xml_errors::EntityTooSmall(chosen->back().size, kPartBytesMin);
    }
    chosen->push_back(*part);
  }
  if (chosen->empty()) return xml_errors::MalformedXml("expected at least one Part");
  return std::nullopt;
}

}  // namespace

// POST ?uploads
http::Response BeginUploadXml(const XmlCall& call) {
  const JsonAnswer bucket = call.Json("GET", BucketPath(call.place.bucket));
  if (!bucket.ok()) return call.Failure(bucket.response);
  Json query = Json::object();
  for (const auto& [name, value] : PreconditionQuery(call.request)) query[name] = value;
  if (const std::string acl = Extension(call.request, "acl"); !acl.empty()) {
    query["predefinedAcl"] = CannedAcl(acl);
  }
  const auto begun = call.services.uploads.Begin(
      {"", call.place.bucket, call.place.object, MetadataOf(call.request), query, Instant()});
  if (!begun.ok()) return ToResponse(xml_errors::Internal(begun.error().message));
  XmlElement root = XmlRoot("InitiateMultipartUploadResult", kPartsNamespace);
  root.Add("Bucket", begun->bucket);
  root.Add("Key", begun->object);
  root.Add("UploadId", begun->id);
  return XmlResponse(root);
}

// PUT ?partNumber=N&uploadId=ID
http::Response PutPartXml(const XmlCall& call) {
  const auto number = NumberPartRequests(call.request.Query("partNumber"));
  if (!number || *number < 1 || *number > kPartNumberMax) {
    return ToResponse(xml_errors::InvalidArgument("partNumber must be from 1 to 10000"));
  }
  const auto upload = UploadOf(call);
  if (!upload.ok()) return ToResponse(xml_errors::NoSuchUpload());
  std::string md5;
  if (const std::string_view text = call.request.headers.Get("Content-MD5"); !text.empty()) {
    md5 = FromBase64(text).value_or("");
    if (md5.size() != 16) {
      return ToResponse(xml_errors::InvalidArgument("Content-MD5 must be 16 bytes in base64"));
    }
  }
  const auto part = call.services.uploads.Put(*upload, *number, *call.request.body, md5);
  if (!part.ok()) {
    const Error& error = part.error();
    if (error.code == Code::kNotFound) return ToResponse(xml_errors::NoSuchUpload());
    if (error.code == Code::kInvalidArgument)
      return ToResponse(xml_errors::BadDigest(error.message));
    if (error.code == Code::kResourceExhausted) {
      return ToResponse(XmlError{403, "QuotaExceeded", error.message});
    }
    return ToResponse(
        XmlError{error.code == Code::kUnavailable ? 408 : 500, "RequestTimeout", error.message});
  }
  http::Response response = Nothing(200);
  response.headers.Add("ETag", QuotedEtag(part->md5));
  response.headers.Add("x-goog-hash", "crc32c=" + Crc32cText(part->crc32c) +
                                          ",md5=" + Base64(FromHex(part->md5).value_or("")));
  return response;
}

// POST ?uploadId=ID. The object appears whole, with the type and metadata given at the beginning.
http::Response CompleteUploadXml(const XmlCall& call) {
  const auto upload = UploadOf(call);
  if (!upload.ok()) return ToResponse(xml_errors::NoSuchUpload());
  const auto body = XmlBody(call.request);
  if (!body.ok()) return MalformedXml(body.error());
  std::vector<UploadedPart> parts;
  if (const auto error = Chosen(*body, call.services.uploads.Parts(*upload), &parts)) {
    return ToResponse(*error);
  }
  Insertion insertion{upload->bucket, upload->object, upload->metadata};
  for (const auto& [name, value] : upload->query.items()) {
    if (value.is_string()) insertion.query.emplace_back(name, value.get<std::string>());
  }
  for (auto& condition : PreconditionQuery(call.request)) insertion.query.push_back(condition);
  const auto bytes = call.services.uploads.Read(*upload, parts);
  const JsonAnswer made =
      call.services.storage.Insert(call.request, insertion, "", BoundaryFor(call), *bytes);
  if (!made.ok()) return call.Failure(made.response);
  call.services.uploads.Forget(*upload);
  XmlElement root = XmlRoot("CompleteMultipartUploadResult", kPartsNamespace);
  root.Add("Location", call.request.scheme + "://" + call.request.host + PathOf(call.place));
  root.Add("Bucket", upload->bucket);
  root.Add("Key", upload->object);
  root.Add("ETag", XmlEtag(made.json));
  http::Response response = XmlResponse(root);
  AddWriteHeaders(made.json, &response.headers);
  return response;
}

// DELETE ?uploadId=ID
http::Response AbortUploadXml(const XmlCall& call) {
  const auto upload = UploadOf(call);
  if (!upload.ok()) return ToResponse(xml_errors::NoSuchUpload());
  call.services.uploads.Forget(*upload);
  return Nothing(204);
}

// GET ?uploadId=ID
http::Response ListPartsXml(const XmlCall& call) {
  const auto upload = UploadOf(call);
  if (!upload.ok()) return ToResponse(xml_errors::NoSuchUpload());
  const int after = NumberPartRequests(call.request.Query("part-number-marker")).value_or(0);
  const size_t limit = static_cast<size_t>(
      std::clamp(NumberPartRequests(call.request.Query("max-parts")).value_or(kListMax), 1,
                 static_cast<int>(kListMax)));
  XmlElement root = XmlRoot("ListPartsResult", kPartsNamespace);
  root.Add("Bucket", upload->bucket);
  root.Add("Key", upload->object);
  root.Add("UploadId", upload->id);
  root.Add("StorageClass", StringOr(upload->metadata, "storageClass", "STANDARD"));
  root.Add("PartNumberMarker", std::to_string(after));
  root.Add("MaxParts", std::to_string(limit));
  size_t shown = 0;
  int last = 0;
  bool more = false;
  for (const UploadedPart& part : call.services.uploads.Parts(*upload)) {
    if (part.number <= after) continue;
    more = shown == limit;
    if (more) break;
    XmlElement& element = root.Add("Part");
    element.Add("PartNumber", std::to_string(part.number));
    element.Add("LastModified", Rfc3339(part.modified, 3));
    element.Add("ETag", QuotedEtag(part.md5));
    element.Add("Size", std::to_string(part.size));
    last = part.number;
    ++shown;
  }
  root.Add("IsTruncated", more ? "true" : "false");
  if (more) root.Add("NextPartNumberMarker", std::to_string(last));
  return XmlResponse(root);
}

// GET /bucket?uploads
http::Response ListUploadsXml(const XmlCall& call) {
  const JsonAnswer bucket = call.Json("GET", BucketPath(call.place.bucket));
  if (!bucket.ok()) return call.Failure(bucket.response);
  const std::string prefix(call.request.Query("prefix"));
  const std::pair<std::string, std::string> after(call.request.Query("key-marker"),
                                                  call.request.Query("upload-id-marker"));
  const size_t limit = static_cast<size_t>(
      std::clamp(NumberPartRequests(call.request.Query("max-uploads")).value_or(kListMax), 1,
                 static_cast<int>(kListMax)));
  XmlElement root = XmlRoot("ListMultipartUploadsResult", kPartsNamespace);
  root.Add("Bucket", call.place.bucket);
  root.Add("KeyMarker", after.first);
  root.Add("UploadIdMarker", after.second);
  root.Add("Prefix", prefix);
  root.Add("MaxUploads", std::to_string(limit));
  auto uploads = call.services.uploads.List(call.place.bucket);
  std::sort(uploads.begin(), uploads.end(), [](const PartUpload& a, const PartUpload& b) {
    return std::tie(a.object, a.id) < std::tie(b.object, b.id);
  });
  size_t shown = 0;
  const PartUpload* last = nullptr;
  bool more = false;
  for (const PartUpload& upload : uploads) {
    const bool passed = after.second.empty() ? upload.object <= after.first
                                             : std::pair(upload.object, upload.id) <= after;
    if ((!after.first.empty() && passed) || !upload.object.starts_with(prefix)) continue;
    more = shown == limit;
    if (more) break;
    XmlElement& element = root.Add("Upload");
    element.Add("Key", upload.object);
    element.Add("UploadId", upload.id);
    element.Add("StorageClass", StringOr(upload.metadata, "storageClass", "STANDARD"));
    element.Add("Initiated", Rfc3339(upload.begun, 3));
    last = &upload;
    ++shown;
  }
  root.Add("IsTruncated", more ? "true" : "false");
  if (more) {
    root.Add("NextKeyMarker", last->object);
    root.Add("NextUploadIdMarker", last->id);
  }
  return XmlResponse(root);
}

}  // namespace caip::gcs
