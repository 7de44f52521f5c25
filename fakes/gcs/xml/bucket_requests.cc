// Requests on buckets: list, head, create, delete, and deletion of many objects at once.
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kDeletionsMax = 1000;

// One of many: <Object><Key/><VersionId/></Object>.
Status DeleteOne(const XmlCall& call, const ObjectName& object, const std::string& version_id) {
  RETURN_IF_ERROR(call.Meet("storage.objects.delete"));
  ASSIGN_OR_RETURN(const auto generation, ParseGeneration("generation", version_id));
  return call.storage().DeleteObject(object, {.generation = generation.value_or(0)}, {});
}

}  // namespace

// GET /
Result<http::Response> ListBucketsXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.Meet("storage.buckets.list"));
  XmlElement root = XmlRoot("ListAllMyBucketsResult");
  XmlElement& owner = root.Add("Owner");
  owner.Add("ID", "caip-owner");
  XmlElement& buckets = root.Add("Buckets");
  BucketQuery query{.project = Extension(call.request, "project-id")};
  do {
    const BucketPage page = call.storage().ListBuckets(query);
    for (const Bucket& item : page.buckets) {
      XmlElement& bucket = buckets.Add("Bucket");
      bucket.Add("Name", item.name);
      bucket.Add("CreationDate", Rfc3339(item.time_created, 3));
    }
    query.after = page.next;
  } while (!query.after.empty());
  return XmlResponse(root);
}

// HEAD /bucket
Result<http::Response> HeadBucketXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.Meet("storage.buckets.get"));
  ASSIGN_OR_RETURN(const Bucket bucket, call.storage().GetBucket(call.place.bucket));
  http::Response response;
  response.headers.Add("Content-Type", "application/xml; charset=UTF-8");
  response.headers.Add("x-goog-metageneration", std::to_string(bucket.metageneration));
  response.headers.Add("x-goog-storage-class", bucket.storage_class);
  response.headers.Add("x-goog-bucket-location", bucket.location);
  return response;
}

// PUT /bucket, with a CreateBucketConfiguration or nothing.
Result<http::Response> PutBucketXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  RETURN_IF_ERROR(call.Meet("storage.buckets.insert"));
  Bucket wanted;
  wanted.name = call.place.bucket;
  wanted.project = Extension(call.request, "project-id");
  const std::string location = UpperCase(body.TextOf("LocationConstraint"));
  const std::string kind = UpperCase(body.TextOf("StorageClass"));
  if (!location.empty()) wanted.location = location;
  if (!kind.empty()) wanted.storage_class = kind;
  const std::string acl = Extension(call.request, "acl");
  if (!acl.empty()) RETURN_IF_ERROR(ApplyPredefined(CannedAcl(acl), std::nullopt, &wanted));
  RETURN_IF_ERROR(call.storage().CreateBucket(wanted));
  return EmptyResponse(200);
}

// DELETE /bucket
Result<http::Response> DeleteBucketXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.Meet("storage.buckets.delete"));
  RETURN_IF_ERROR(call.storage().DeleteBucket(call.place.bucket, {}));
  return EmptyResponse(204);
}

// POST /bucket?delete: <Delete><Quiet/><Object><Key/><VersionId/></Object>...</Delete>
Result<http::Response> DeleteManyXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  const auto objects = body.All("Object");
  if (objects.empty() || objects.size() > kDeletionsMax) {
    return xml_errors::MalformedXml("expected 1 to 1000 objects");
  }
  const bool quiet = LowerCase(body.TextOf("Quiet")) == "true";
  XmlElement root = XmlRoot("DeleteResult");
  for (const XmlElement* object : objects) {
    const Place place{call.place.bucket, object->TextOf("Key"), call.place.bucket_in_host};
    const Status gone = DeleteOne(call, {place.bucket, place.object}, object->TextOf("VersionId"));
    // This call reports the deletion of a missing object as a success.
    if (gone.ok() || gone.error().code == Code::kNotFound) {
      if (!quiet) root.Add("Deleted").Add("Key", place.object);
      continue;
    }
    const auto [code, message] = XmlErrorWordsOf(gone.error(), place);
    XmlElement& error = root.Add("Error");
    error.Add("Key", place.object);
    error.Add("Code", code);
    error.Add("Message", message);
  }
  return XmlResponse(root);
}

}  // namespace caip::gcs
