#pragma once
// The methods of the XML API: each answers one request. Private to fakes/gcs/xml.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "fakes/gcs/service/part_uploads.h"
#include "fakes/gcs/signing/signature_check.h"
#include "fakes/gcs/xml/json_storage.h"
#include "fakes/gcs/xml/place.h"
#include "fakes/gcs/xml/xml_error.h"
#include "fakes/gcs/xml/xml_text.h"
#include "http/message.h"

namespace caip::gcs {

/// What the methods share. Any thread.
struct XmlServices {
  JsonStorage storage;
  SignatureCheck signatures;
  const Clock& clock;
  PartUploads uploads;
};

/// One request and where it points.
struct XmlCall {
  const http::Request& request;
  const Place& place;
  XmlServices& services;

  JsonAnswer Json(const std::string& method, const std::string& path, QueryList query = {},
                  const caip::Json& body = caip::Json()) const {
    return services.storage.Call(request, method, path, std::move(query), body);
  }
  http::Response Failure(http::Response response) const {
    return FailureOf(services.storage, request, place, std::move(response));
  }
};

using XmlMethod = http::Response (*)(const XmlCall&);

// bucket_requests.cc
http::Response ListBucketsXml(const XmlCall&);
http::Response HeadBucketXml(const XmlCall&);
http::Response PutBucketXml(const XmlCall&);
http::Response DeleteBucketXml(const XmlCall&);
http::Response DeleteManyXml(const XmlCall&);

// listing_requests.cc
http::Response ListObjectsXml(const XmlCall&);

// bucket_settings.cc: ?cors, ?lifecycle and so on. nullptr name: the query names none.
const char* SettingNameIn(const http::Request& request);
http::Response BucketSettingXml(const XmlCall&, std::string_view name);

// access_lists.cc
http::Response AccessListXml(const XmlCall&, const std::string& field);

// object_reads.cc
http::Response ReadObjectXml(const XmlCall&);

// object_writes.cc
http::Response PutObjectXml(const XmlCall&);
http::Response DeleteObjectXml(const XmlCall&);
http::Response ComposeObjectXml(const XmlCall&);
http::Response StartSessionXml(const XmlCall&);
http::Response UseSessionXml(const XmlCall&);

// object_copies.cc
http::Response CopyObjectXml(const XmlCall&);

// part_requests.cc: multipart uploads.
http::Response BeginUploadXml(const XmlCall&);
http::Response PutPartXml(const XmlCall&);
http::Response CompleteUploadXml(const XmlCall&);
http::Response AbortUploadXml(const XmlCall&);
http::Response ListPartsXml(const XmlCall&);
http::Response ListUploadsXml(const XmlCall&);

// form_uploads.cc
http::Response FormUploadXml(const XmlCall&);

// xml_parts.cc: what several methods need.
inline constexpr char kXmlNamespace[] = "http://doc.s3.amazonaws.com/2006-03-01";
/// Of answers about multipart uploads; client libraries look for it.
inline constexpr char kPartsNamespace[] = "http://s3.amazonaws.com/doc/2006-03-01/";
http::Response XmlResponse(const XmlElement& root, int status = 200);
/// A root element with the API's namespace.
XmlElement XmlRoot(const std::string& name, const std::string& xmlns = kXmlNamespace);
/// The request's body as XML; an empty one is an element without a name.
Result<XmlElement> XmlBody(const http::Request& request);
/// An empty body with this status.
http::Response Nothing(int status);
/// The answer to a write of this object resource.
http::Response Written(const caip::Json& object);
http::Response MalformedXml(const Error& error);
/// "-": no name that anything could have in a multipart body.
std::string BoundaryFor(const XmlCall&);

}  // namespace caip::gcs
