// Buckets themselves: list, head, create, delete, and the deletion of many objects at once.
#include "base/text.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kDeletionsMax = 1000;

std::string ProjectOf(const http::Request& request) { return Extension(request, "project-id"); }

}  // namespace

// GET /
http::Response ListBucketsXml(const XmlCall& call) {
  XmlElement root = XmlRoot("ListAllMyBucketsResult");
  XmlElement& owner = root.Add("Owner");
  owner.Add("ID", "caip-owner");
  XmlElement& buckets = root.Add("Buckets");
  std::string token;
  do {
    QueryList query = {{"project", ProjectOf(call.request)}};
    if (!token.empty()) query.emplace_back("pageToken", token);
    const JsonAnswer page = call.Json("GET", "/storage/v1/b", std::move(query));
    if (!page.ok()) return call.Failure(page.response);
    if (const Json* items = Member(page.json, "items")) {
      for (const Json& item : *items) {
        XmlElement& bucket = buckets.Add("Bucket");
        bucket.Add("Name", StringOr(item, "name"));
        bucket.Add("CreationDate", StringOr(item, "timeCreated"));
      }
    }
    token = StringOr(page.json, "nextPageToken");
  } while (!token.empty());
  return XmlResponse(root);
}

// HEAD /bucket
http::Response HeadBucketXml(const XmlCall& call) {
  const JsonAnswer bucket = call.Json("GET", BucketPath(call.place.bucket));
  if (!bucket.ok()) return call.Failure(bucket.response);
  http::Response response;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  response.headers.Add("x-goog-metageneration", StringOr(bucket.json, "metageneration"));
  response.headers.Add("x-goog-storage-class", StringOr(bucket.json, "storageClass"));
  response.headers.Add("x-goog-bucket-location", StringOr(bucket.json, "location"));
  return response;
}

// PUT /bucket, with a CreateBucketConfiguration or nothing.
http::Response PutBucketXml(const XmlCall& call) {
  const auto body = XmlBody(call.request);
  if (!body.ok()) return MalformedXml(body.error());
  Json resource = {{"name", call.place.bucket}};
  const std::string location = body->TextOf("LocationConstraint");
  const std::string kind = body->TextOf("StorageClass");
  if (!location.empty()) resource["location"] = location;
  if (!kind.empty()) resource["storageClass"] = kind;
  QueryList query = {{"project", ProjectOf(call.request)}};
  const std::string acl = Extension(call.request, "acl");
  if (!acl.empty()) query.emplace_back("predefinedAcl", CannedAcl(acl));
  const JsonAnswer made = call.Json("POST", "/storage/v1/b", std::move(query), resource);
  if (!made.ok()) return call.Failure(made.response);
  return Nothing(200);
}

// DELETE /bucket
http::Response DeleteBucketXml(const XmlCall& call) {
  const JsonAnswer gone = call.Json("DELETE", BucketPath(call.place.bucket));
  return gone.ok() ? Nothing(204) : call.Failure(gone.response);
}

// POST /bucket?delete: <Delete><Quiet/><Object><Key/><VersionId/></Object>...</Delete>
http::Response DeleteManyXml(const XmlCall& call) {
  const auto body = XmlBody(call.request);
  if (!body.ok()) return MalformedXml(body.error());
  const auto objects = body->All("Object");
  if (objects.empty() || objects.size() > kDeletionsMax) {
    return ToResponse(xml_errors::MalformedXml("expected 1 to 1000 objects"));
  }
  const bool quiet = LowerCase(body->TextOf("Quiet")) == "true";
  XmlElement root = XmlRoot("DeleteResult");
  for (const XmlElement* object : objects) {
    const Place place{call.place.bucket, object->TextOf("Key"), call.place.bucket_in_host};
    QueryList query;
    const std::string version = object->TextOf("VersionId");
    if (!version.empty()) query.emplace_back("generation", version);
    const JsonAnswer gone = call.Json("DELETE", ObjectPath(place), std::move(query));
    const bool was_absent = gone.response.status == 404;
    if (gone.ok() || was_absent) {  // deleting what is not there is a success in this call
      if (!quiet) root.Add("Deleted").Add("Key", place.object);
      continue;
    }
    const auto shown =
        ParseXml(FailureOf(call.services.storage, call.request, place, gone.response).body);
    XmlElement& error = root.Add("Error");
    error.Add("Key", place.object);
    error.Add("Code", shown.ok() ? shown->TextOf("Code") : "InternalError");
    error.Add("Message", shown.ok() ? shown->TextOf("Message") : "");
  }
  return XmlResponse(root);
}

}  // namespace caip::gcs
