// Multipart uploads: begin, put a part, complete, abort, list.
// https://cloud.google.com/storage/docs/multipart-uploads
#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kListMax = 1000;

std::string PartEtag(const UploadedPart& part) { return '"' + part.md5 + '"'; }

std::string Unquoted(std::string_view text) {
  text = Trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

Result<PartUpload> FindUpload(const XmlCall& call) {
  return call.services.uploads.Find(std::string(call.request.Query("uploadId")), call.place.bucket,
                                    call.place.object);
}

// A kill can leave an upload that was completed. Its completion may be repeated, and takes no part.
Result<PartUpload> FindIncompleteUpload(const XmlCall& call) {
  ASSIGN_OR_RETURN(PartUpload upload, FindUpload(call));
  ASSIGN_OR_RETURN(const bool is_complete, call.storage().IsInserted({upload.bucket, upload.object},
                                                                     KeyOfUploadId(upload.id)));
  if (is_complete) return errors::PartsUnknown();
  return upload;
}

// The size of a page: the parameter, limited to 1..1000.
size_t ListLimit(std::string_view text) {
  const int most = static_cast<int>(kListMax);
  return static_cast<size_t>(std::clamp(ParseCount(text).value_or(most), 1, most));
}

// Converts the metadata of the first request to the JSON of the stored plan. FromKeptResource
// converts it back.
Json KeptResource(const ObjectInfo& info) {
  Json json = Json::object();
  for (const TextField& field : kTextFields) {
    if (!(info.*field.member).empty()) json[field.name] = info.*field.member;
  }
  for (const auto& [key, value] : info.metadata) json["metadata"][key] = value;
  return json;
}

ObjectInfo FromKeptResource(const Json& json) {
  ObjectInfo info;
  for (const TextField& field : kTextFields) {
    info.*field.member = StringOr(json, field.name, info.*field.member);
  }
  if (info.content_type.empty()) info.content_type = "application/octet-stream";
  if (const Json* metadata = Member(json, "metadata"); metadata && metadata->is_object()) {
    for (const auto& [key, value] : metadata->items()) {
      if (value.is_string()) info.metadata[key] = value.get<std::string>();
    }
  }
  return info;
}

// Combines the first request with the completion. The conditions of the first request take
// precedence.
Result<UploadPlan> PlanOfUpload(const XmlCall& call, const PartUpload& upload) {
  UploadPlan plan;
  plan.info = FromKeptResource(upload.metadata);
  plan.info.bucket = upload.bucket;
  plan.info.name = upload.object;
  // Earlier versions kept lists that objects cannot have. Such an object gets the default list.
  (void)ApplyCannedAcl(StringOr(upload.query, "predefinedAcl"), &plan.info).ok();
  ASSIGN_OR_RETURN(plan.info.customer_key_sha256, CustomerKeySha256(call.request));
  ASSIGN_OR_RETURN(plan.preconditions, PreconditionHeaders(call.request));
  for (const auto& [name, into] :
       {std::pair("ifGenerationMatch", &plan.preconditions.if_generation_match),
        std::pair("ifMetagenerationMatch", &plan.preconditions.if_metageneration_match)}) {
    ASSIGN_OR_RETURN(const auto begun, ParseInt(name, StringOr(upload.query, name)));
    if (begun) *into = begun;
  }
  return plan;
}

// Finds the stored parts that a CompleteMultipartUpload names.
Result<std::vector<UploadedPart>> ChosenParts(const XmlElement& body,
                                              const std::vector<UploadedPart>& stored) {
  std::vector<UploadedPart> chosen;
  for (const XmlElement* wanted : body.All("Part")) {
    const auto number = ParseCount(wanted->WordOf("PartNumber"));
    if (!number) return xml_errors::MalformedXml("a Part needs a PartNumber");
    if (!chosen.empty() && *number <= chosen.back().number) return xml_errors::InvalidPartOrder();
    const std::string md5 = Unquoted(wanted->WordOf("ETag"));
    const auto part = std::find_if(stored.begin(), stored.end(), [&](const UploadedPart& known) {
      return known.number == *number && known.md5 == md5;
    });
    if (part == stored.end()) return xml_errors::InvalidPart(*number);
    if (!chosen.empty() && chosen.back().size < kPartBytesMin) {
      return xml_errors::EntityTooSmall(chosen.back().size, kPartBytesMin);
    }
    chosen.push_back(*part);
  }
  if (chosen.empty()) return xml_errors::MalformedXml("expected at least one Part");
  return chosen;
}

// Reads Content-MD5 as raw bytes; "" if it is missing.
Result<std::string> PartMd5(const http::Request& request) {
  const std::string_view text = request.headers.Get("Content-MD5");
  const std::string md5 = FromBase64(text).value_or("");
  if (!text.empty() && md5.size() != 16) {
    return xml_errors::InvalidArgument("Content-MD5 must be 16 bytes in base64");
  }
  return md5;
}

// The conditions and the access control list of POST ?uploads, as a query of the JSON API.
Json KeptQuery(const http::Request& request) {
  Json query = Json::object();
  for (const auto& [header, name] :
       {std::pair("x-goog-if-generation-match", "ifGenerationMatch"),
        std::pair("x-goog-if-metageneration-match", "ifMetagenerationMatch")}) {
    if (request.headers.Has(header)) query[name] = request.headers.Get(header);
  }
  const std::string acl = Extension(request, "acl");
  if (!acl.empty()) query["predefinedAcl"] = CannedAcl(acl);
  return query;
}

http::Response UploadCompleted(const XmlCall& call, const ObjectInfo& made) {
  XmlElement root = XmlRoot("CompleteMultipartUploadResult", kPartsNamespace);
  root.Add("Location", call.request.BaseUrl() + PathOf(call.place));
  root.Add("Bucket", made.bucket);
  root.Add("Key", made.name);
  root.Add("ETag", XmlEtag(made));
  http::Response response = XmlResponse(root);
  AddWriteHeaders(made, &response.headers);
  return response;
}

// Adds the parts after the number `after`, at most `limit`.
void AddParts(const std::vector<UploadedPart>& parts, int after, size_t limit, XmlElement* root) {
  size_t shown = 0;
  int last = 0;
  bool more = false;
  for (auto at = parts.begin(); at != parts.end(); ++at) {
    const UploadedPart& part = *at;
    const bool is_replaced = std::next(at) != parts.end() && std::next(at)->number == part.number;
    if (part.number <= after || is_replaced) continue;
    more = shown++ == limit;
    if (more) break;
    XmlElement& element = root->Add("Part");
    element.Add("PartNumber", std::to_string(part.number));
    element.Add("LastModified", Rfc3339(part.modified, 3));
    element.Add("ETag", PartEtag(part));
    element.Add("Size", std::to_string(part.size));
    last = part.number;
  }
  root->Add("IsTruncated", more ? "true" : "false");
  if (more) root->Add("NextPartNumberMarker", std::to_string(last));
}

// The parameters of GET ?uploads.
struct UploadListing {
  std::string prefix;
  std::string after_key;
  std::string after_id;
  size_t limit = 0;

  bool Includes(const PartUpload& upload) const {
    if (!upload.object.starts_with(prefix)) return false;
    if (after_key.empty()) return true;
    if (after_id.empty()) return upload.object > after_key;
    return std::tie(upload.object, upload.id) > std::tie(after_key, after_id);
  }
};

UploadListing ReadUploadListing(const http::Request& request) {
  return {std::string(request.Query("prefix")), std::string(request.Query("key-marker")),
          std::string(request.Query("upload-id-marker")), ListLimit(request.Query("max-uploads"))};
}

void AddUploads(std::vector<PartUpload> uploads, const UploadListing& asked, XmlElement* root) {
  std::erase_if(uploads, [&](const PartUpload& upload) { return !asked.Includes(upload); });
  std::sort(uploads.begin(), uploads.end(), [](const PartUpload& a, const PartUpload& b) {
    return std::tie(a.object, a.id) < std::tie(b.object, b.id);
  });
  const bool more = uploads.size() > asked.limit;
  if (more) uploads.resize(asked.limit);
  for (const PartUpload& upload : uploads) {
    XmlElement& element = root->Add("Upload");
    element.Add("Key", upload.object);
    element.Add("UploadId", upload.id);
    element.Add("StorageClass", StringOr(upload.metadata, "storageClass", "STANDARD"));
    element.Add("Initiated", Rfc3339(upload.begun, 3));
  }
  root->Add("IsTruncated", more ? "true" : "false");
  if (more) {
    root->Add("NextKeyMarker", uploads.back().object);
    root->Add("NextUploadIdMarker", uploads.back().id);
  }
}

PartUpload ReadNewUpload(const XmlCall& call) {
  ObjectInfo info;
  ApplyMetadataHeaders(call.request, &info);
  PartUpload upload;
  upload.bucket = call.place.bucket;
  upload.object = call.place.object;
  upload.metadata = KeptResource(info);
  upload.query = KeptQuery(call.request);
  return upload;
}

// Makes the checks of the completion that need no part: a client would send all parts in vain.
Status CheckNewUpload(const XmlCall& call, const PartUpload& upload) {
  if (const auto problem = ObjectNameProblem(upload.object)) {
    return errors::ObjectNameInvalid(upload.object, *problem);
  }
  ObjectInfo listed;
  RETURN_IF_ERROR(ApplyCannedAcl(Extension(call.request, "acl"), &listed));
  ASSIGN_OR_RETURN(const UploadPlan plan, PlanOfUpload(call, upload));
  RETURN_IF_ERROR(CheckObjectFields(plan.info));
  return call.storage().CheckNewObject(plan.info);
}

}  // namespace

// POST ?uploads
Result<http::Response> BeginUploadXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.get"));
  RETURN_IF_ERROR(call.storage().GetBucket(call.place.bucket));
  const PartUpload upload = ReadNewUpload(call);
  RETURN_IF_ERROR(CheckNewUpload(call, upload));
  const auto begun = call.services.uploads.Begin(
      upload, [&](const std::string& id) { return call.storage().HasInserted(KeyOfUploadId(id)); });
  if (!begun.ok()) return xml_errors::Internal(begun.error().message);
  XmlElement root = XmlRoot("InitiateMultipartUploadResult", kPartsNamespace);
  root.Add("Bucket", begun->bucket);
  root.Add("Key", begun->object);
  root.Add("UploadId", begun->id);
  return XmlResponse(root);
}

// PUT ?partNumber=N&uploadId=ID
Result<http::Response> PutPartXml(const XmlCall& call) {
  const auto number = ParseCount(call.request.Query("partNumber"));
  if (!number || *number < 1 || *number > kPartNumberMax) {
    return xml_errors::InvalidArgument("partNumber must be from 1 to 10000");
  }
  ASSIGN_OR_RETURN(const PartUpload upload, FindIncompleteUpload(call));
  ASSIGN_OR_RETURN(const std::string md5, PartMd5(call.request));
  const auto part = call.services.uploads.Put(upload, *number, *call.request.body, md5);
  if (!part.ok()) return xml_errors::PartLost(part.error());
  http::Response response = EmptyResponse(200);
  response.headers.Add("ETag", PartEtag(*part));
  response.headers.Add("x-goog-hash", "crc32c=" + Crc32cText(part->crc32c) +
                                          ",md5=" + Base64(FromHex(part->md5).value_or("")));
  return response;
}

// POST ?uploadId=ID. The object gets the type and metadata of the first request.
Result<http::Response> CompleteUploadXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const PartUpload upload, FindUpload(call));
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  RETURN_IF_ERROR(CheckRoot(body, "CompleteMultipartUpload"));
  RETURN_IF_ERROR(CheckChildren(body, {"Part"}));
  ASSIGN_OR_RETURN(const auto present, call.services.uploads.Parts(upload));
  ASSIGN_OR_RETURN(const auto parts, ChosenParts(body, present));
  ASSIGN_OR_RETURN(const UploadPlan plan, PlanOfUpload(call, upload));
  const auto store = [&](http::BodyReader& bytes) -> Result<http::Response> {
    ASSIGN_OR_RETURN(const ObjectInfo made,
                     call.storage().InsertOnce(plan, bytes, KeyOfUploadId(upload.id)));
    RETURN_IF_ERROR(call.services.uploads.Forget(upload));
    return UploadCompleted(call, made);
  };
  const auto bytes = call.services.uploads.Read(upload, parts);
  return AnswerUpload(call, *bytes, 0, store);
}

// DELETE ?uploadId=ID
Result<http::Response> AbortUploadXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const PartUpload upload, FindUpload(call));
  RETURN_IF_ERROR(call.services.uploads.Forget(upload));
  return EmptyResponse(204);
}

// GET ?uploadId=ID
Result<http::Response> ListPartsXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const PartUpload upload, FindUpload(call));
  const int after = ParseCount(call.request.Query("part-number-marker")).value_or(0);
  const size_t limit = ListLimit(call.request.Query("max-parts"));
  XmlElement root = XmlRoot("ListPartsResult", kPartsNamespace);
  root.Add("Bucket", upload.bucket);
  root.Add("Key", upload.object);
  root.Add("UploadId", upload.id);
  root.Add("StorageClass", StringOr(upload.metadata, "storageClass", "STANDARD"));
  root.Add("PartNumberMarker", std::to_string(after));
  root.Add("MaxParts", std::to_string(limit));
  ASSIGN_OR_RETURN(const auto parts, call.services.uploads.Parts(upload));
  AddParts(parts, after, limit, &root);
  return XmlResponse(root);
}

// GET /bucket?uploads
Result<http::Response> ListUploadsXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.get"));
  RETURN_IF_ERROR(call.storage().GetBucket(call.place.bucket));
  const UploadListing asked = ReadUploadListing(call.request);
  XmlElement root = XmlRoot("ListMultipartUploadsResult", kPartsNamespace);
  root.Add("Bucket", call.place.bucket);
  root.Add("KeyMarker", asked.after_key);
  root.Add("UploadIdMarker", asked.after_id);
  root.Add("Prefix", asked.prefix);
  root.Add("MaxUploads", std::to_string(asked.limit));
  ASSIGN_OR_RETURN(auto uploads, call.services.uploads.List(call.place.bucket));
  AddUploads(std::move(uploads), asked, &root);
  return XmlResponse(root);
}

}  // namespace caip::gcs
