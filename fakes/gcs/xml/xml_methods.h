#pragma once
// The methods of the XML API: each answers one request. Private to fakes/gcs/xml.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "fakes/gcs/service/part_uploads.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/signing/signature_check.h"
#include "fakes/gcs/xml/place.h"
#include "fakes/gcs/xml/xml_text.h"
#include "http/message.h"

namespace caip::gcs {

/// The services that the methods share. Any thread.
struct XmlServices {
  std::shared_ptr<StorageService> storage;
  FaultyCalls faults;
  SignatureCheck signatures;
  const Clock& clock;
  PartUploads uploads;
};

/// One request and its bucket and object.
struct XmlCall {
  const http::Request& request;
  const Place& place;
  XmlServices& services;

  StorageService& storage() const { return *services.storage; }
  ObjectName object() const { return {place.bucket, place.object}; }
  /// Injects a fault into the step of the call that corresponds to `method` of the JSON API.
  Status InjectFault(const char* method) const {
    return services.faults.InjectFault(method, request);
  }
};

// bucket_requests.cc
Result<http::Response> ListBucketsXml(const XmlCall&);
Result<http::Response> HeadBucketXml(const XmlCall&);
Result<http::Response> PutBucketXml(const XmlCall&);
Result<http::Response> DeleteBucketXml(const XmlCall&);
Result<http::Response> DeleteManyXml(const XmlCall&);
Result<http::Response> ListObjectsXml(const XmlCall&);

// lifecycle_setting.cc
XmlElement LifecycleToXml(const Json& bucket);
Result<Json> LifecycleFromXml(const XmlElement& root, const Json& bucket);

// bucket_settings.cc: ?cors, ?lifecycle and so on. nullptr: the query names no setting.
const char* SettingNameIn(const http::Request& request);
Result<http::Response> BucketSettingXml(const XmlCall&, std::string_view name);

// access_requests.cc: `field` is "acl" of an object or bucket, "defaultObjectAcl" of a bucket.
Result<http::Response> AccessListXml(const XmlCall&, const std::string& field);

// object_requests.cc
Result<http::Response> ReadObjectXml(const XmlCall&);
Result<http::Response> PutObjectXml(const XmlCall&);
Result<http::Response> DeleteObjectXml(const XmlCall&);
Result<http::Response> ComposeObjectXml(const XmlCall&);
Result<http::Response> StartSessionXml(const XmlCall&);
Result<http::Response> UseSessionXml(const XmlCall&);
Result<http::Response> CopyObjectXml(const XmlCall&);

// part_requests.cc: multipart uploads.
Result<http::Response> BeginUploadXml(const XmlCall&);
Result<http::Response> PutPartXml(const XmlCall&);
Result<http::Response> CompleteUploadXml(const XmlCall&);
Result<http::Response> AbortUploadXml(const XmlCall&);
Result<http::Response> ListPartsXml(const XmlCall&);
Result<http::Response> ListUploadsXml(const XmlCall&);

// form_uploads.cc
Result<http::Response> FormUploadXml(const XmlCall&);

// xml_api.cc: used by several methods.
inline constexpr char kXmlNamespace[] = "http://doc.s3.amazonaws.com/2006-03-01";
/// Namespace of responses about multipart uploads. Client libraries require it.
inline constexpr char kPartsNamespace[] = "http://s3.amazonaws.com/doc/2006-03-01/";
http::Response XmlResponse(const XmlElement& root, int status = 200);
/// A root element with the API's namespace.
XmlElement XmlRoot(const std::string& name, const std::string& xmlns = kXmlNamespace);
/// The request's body as XML. An empty body is an element without a name.
Result<XmlElement> XmlBody(const http::Request& request);
/// An empty body with this status.
http::Response EmptyResponse(int status);
/// The response to a write of this object.
http::Response WrittenResponse(const ObjectInfo& object);
/// A whole number in an XML document or a query; nullopt for anything else.
std::optional<int> ParseCount(std::string_view text);
/// Calls `store` with the bytes, into which faults may be injected. `offset`: the position of the
/// first byte in the object.
Result<http::Response> AnswerUpload(
    const XmlCall&, http::BodyReader& bytes, uint64_t offset,
    const std::function<Result<http::Response>(http::BodyReader& bytes)>& store);

}  // namespace caip::gcs
