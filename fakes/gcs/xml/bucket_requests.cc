// Requests on buckets: list, head, create, delete, and deletion of many objects at once.

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/store/listing.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr size_t kDeletionsMax = 1000;

// Deletes one <Object><Key/><VersionId/></Object> of the request.
Status DeleteOne(const XmlCall& call, const ObjectName& object, const std::string& version_id) {
  RETURN_IF_ERROR(call.InjectFault("storage.objects.delete"));
  ASSIGN_OR_RETURN(const auto generation, ParseGeneration("generation", version_id));
  return call.storage().DeleteObject(object, {.generation = generation.value_or(0)}, {});
}

// Adds <Deleted>, unless `is_quiet`, or <Error>.
void DeleteListed(const XmlCall& call, const XmlElement& object, bool is_quiet, XmlElement* root) {
  const Place place{call.place.bucket, object.TextOf("Key"), call.place.bucket_in_host};
  const Status gone = DeleteOne(call, {place.bucket, place.object}, object.WordOf("VersionId"));
  // This call reports the deletion of a missing object as a success.
  if (gone.ok() || gone.error().code == Code::kNotFound) {
    if (!is_quiet) root->Add("Deleted").Add("Key", place.object);
    return;
  }
  const auto [code, message] = DescribeXmlError(gone.error(), place);
  XmlElement& error = root->Add("Error");
  error.Add("Key", place.object);
  error.Add("Code", code);
  error.Add("Message", message);
}

void AddBucket(const Bucket& item, XmlElement* buckets) {
  XmlElement& bucket = buckets->Add("Bucket");
  bucket.Add("Name", item.name);
  bucket.Add("CreationDate", Rfc3339(item.time_created, 3));
}

// Elements of a CreateBucketConfiguration that Cloud Storage has and this emulator does not have.
constexpr const char* kMissingElements[] = {"Autoclass", "HierarchicalNamespace", "IpFilter"};

// The regions of a CustomPlacementConfig.
Result<Json> RegionsOf(const XmlElement& placement) {
  RETURN_IF_ERROR(CheckChildren(placement, {"DataLocations"}));
  Json regions = Json::array();
  if (const XmlElement* listed = placement.Child("DataLocations")) {
    RETURN_IF_ERROR(CheckChildren(*listed, {"DataLocation"}));
    for (const XmlElement& region : listed->children) {
      regions.push_back(std::string(Trim(region.text)));
    }
  }
  if (regions.empty()) return xml_errors::MalformedXml("expected a DataLocation");
  return regions;
}

// The fields of a new bucket as the JSON API names them.
Result<Json> NewBucketFields(const XmlElement& body) {
  if (body.name.empty()) return Json::object();
  RETURN_IF_ERROR(CheckRoot(body, "CreateBucketConfiguration"));
  for (const char* name : kMissingElements) {
    if (body.Child(name)) return xml_errors::NotImplemented("The element " + std::string(name));
  }
  RETURN_IF_ERROR(
      CheckChildren(body, {"LocationConstraint", "StorageClass", "CustomPlacementConfig", "Rpo"}));
  Json fields = {{"location", body.WordOf("LocationConstraint")},
                 {"storageClass", body.WordOf("StorageClass")}};
  if (body.Child("Rpo")) fields["rpo"] = body.WordOf("Rpo");
  if (const XmlElement* placement = body.Child("CustomPlacementConfig")) {
    ASSIGN_OR_RETURN(fields["customPlacementConfig"]["dataLocations"], RegionsOf(*placement));
  }
  return fields;
}

}  // namespace

// GET /
Result<http::Response> ListBucketsXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.list"));
  XmlElement root = XmlRoot("ListAllMyBucketsResult");
  XmlElement& owner = root.Add("Owner");
  owner.Add("ID", "caip-owner");
  XmlElement& buckets = root.Add("Buckets");
  BucketQuery query{.project = Extension(call.request, "project-id")};
  do {
    ASSIGN_OR_RETURN(const BucketPage page, call.storage().ListBuckets(query));
    for (const Bucket& item : page.buckets) AddBucket(item, &buckets);
    query.after = page.next;
  } while (!query.after.empty());
  return XmlResponse(root);
}

// HEAD /bucket
Result<http::Response> HeadBucketXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.get"));
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
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.insert"));
  Bucket wanted;
  wanted.name = call.place.bucket;
  wanted.project = Extension(call.request, "project-id");
  ASSIGN_OR_RETURN(const Json fields, NewBucketFields(body));
  RETURN_IF_ERROR(ApplyNewBucketFields(fields, &wanted));
  const std::string acl = Extension(call.request, "acl");
  if (!acl.empty()) RETURN_IF_ERROR(ApplyPredefined(CannedAcl(acl), std::nullopt, &wanted));
  RETURN_IF_ERROR(call.storage().CreateBucket(wanted));
  return EmptyResponse(200);
}

// DELETE /bucket
Result<http::Response> DeleteBucketXml(const XmlCall& call) {
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.delete"));
  RETURN_IF_ERROR(call.storage().DeleteBucket(call.place.bucket, {}));
  return EmptyResponse(204);
}

// POST /bucket?delete: <Delete><Quiet/><Object><Key/><VersionId/></Object>...</Delete>
Result<http::Response> DeleteManyXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  RETURN_IF_ERROR(CheckRoot(body, "Delete"));
  RETURN_IF_ERROR(CheckChildren(body, {"Quiet", "Object"}));
  const auto objects = body.All("Object");
  if (objects.empty() || objects.size() > kDeletionsMax) {
    return xml_errors::MalformedXml("expected 1 to 1000 objects");
  }
  bool is_quiet = false;
  if (!body.WordOf("Quiet").empty()) {
    ASSIGN_OR_RETURN(is_quiet, ReadTruth(body.WordOf("Quiet"), "Quiet"));
  }
  XmlElement root = XmlRoot("DeleteResult");
  for (const XmlElement* object : objects) DeleteListed(call, *object, is_quiet, &root);
  return XmlResponse(root);
}

// GET /bucket lists objects: version 1 with markers, version 2 (list-type=2) with continuation
// tokens, and all generations (?versions).

namespace {

constexpr int kKeysMax = 1000;

// The parameters of a listing.
struct ListingRequest {
  std::string prefix;
  std::string delimiter;
  std::string after;  // marker or start-after
  std::string token;  // continuation-token or generation-marker
  int max_keys = kKeysMax;
  bool version_two = false;
  bool versions = false;
  bool url_encoded = false;
};

Result<ListingRequest> ListingRequestOf(const http::Request& request) {
  ListingRequest asked;
  asked.version_two = request.Query("list-type") == "2";
  asked.versions = request.HasQuery("versions");
  asked.prefix = std::string(request.Query("prefix"));
  asked.delimiter = std::string(request.Query("delimiter"));
  asked.after = std::string(request.Query(asked.version_two ? "start-after" : "marker"));
  if (asked.versions && request.HasQuery("key-marker")) {
    asked.after = std::string(request.Query("key-marker"));
  }
  asked.token = std::string(request.Query(asked.version_two ? "continuation-token"
                                          : asked.versions  ? "generation-marker"
                                                            : ""));
  asked.url_encoded = LowerCase(request.Query("encoding-type")) == "url";
  const std::string_view keys = request.Query("max-keys");
  if (!keys.empty()) {
    const auto number = ParseCount(keys);
    if (!number || *number < 0) {
      return xml_errors::InvalidArgument("max-keys must be a number from 0 to 1000");
    }
    asked.max_keys = *number;
  }
  asked.max_keys = std::min(asked.max_keys, kKeysMax);
  return asked;
}

// The first name after the marker. A marker within a common prefix skips all names with the prefix.
std::string StartOf(const ListingRequest& asked) {
  if (asked.after.empty()) return "";
  if (!asked.delimiter.empty() && asked.after.starts_with(asked.prefix)) {
    const size_t end = asked.after.find(asked.delimiter, asked.prefix.size());
    if (end != std::string::npos) {
      return NameAfterPrefix(asked.after.substr(0, end + asked.delimiter.size()));
    }
  }
  return asked.after + '\0';
}

class ListingWriter {
 public:
  ListingWriter(const ListingRequest& asked, XmlElement* root) : asked_(asked), root_(root) {}

  std::string Name(const std::string& raw) const {
    return asked_.url_encoded ? PercentEncoded(raw, "/") : raw;
  }

  void Item(const ObjectInfo& object) {
    XmlElement& item = root_->Add(asked_.versions ? "Version" : "Contents");
    const std::string generation = std::to_string(object.generation);
    last_ = std::max(last_, object.name);
    item.Add("Key", Name(object.name));
    item.Add("Generation", generation);
    item.Add("MetaGeneration", std::to_string(object.metageneration));
    if (asked_.versions) {
      item.Add("VersionId", generation);
      item.Add("IsLatest", object.time_deleted ? "false" : "true");
      if (object.time_deleted) item.Add("DeletedTime", Rfc3339(*object.time_deleted, 3));
    }
    item.Add("LastModified", Rfc3339(object.updated, 3));
    item.Add("ETag", XmlEtag(object));
    item.Add("Size", std::to_string(object.size));
    item.Add("StorageClass", object.storage_class);
    item.Add("Owner").Add("ID", "caip-owner");
  }

  void Prefix(const std::string& prefix) {
    last_ = std::max(last_, prefix);
    root_->Add("CommonPrefixes").Add("Prefix", Name(prefix));
  }

  const std::string& last() const { return last_; }

 private:
  const ListingRequest& asked_;
  XmlElement* root_;
  std::string last_;
};

void AddHead(const ListingRequest& asked, const std::string& bucket, const ListingWriter& writer,
             XmlElement* root) {
  root->Add("Name", bucket);
  root->Add("Prefix", writer.Name(asked.prefix));
  if (!asked.delimiter.empty()) root->Add("Delimiter", writer.Name(asked.delimiter));
  if (asked.version_two) {
    if (!asked.token.empty()) root->Add("ContinuationToken", asked.token);
    if (!asked.after.empty()) root->Add("StartAfter", writer.Name(asked.after));
  } else {
    root->Add("Marker", writer.Name(asked.after));
  }
  root->Add("MaxKeys", std::to_string(asked.max_keys));
  if (asked.url_encoded) root->Add("EncodingType", "url");
}

void AddNext(const ListingRequest& asked, const std::string& token, const ListingWriter& writer,
             size_t count, XmlElement* root) {
  root->Add("IsTruncated", token.empty() ? "false" : "true");
  if (asked.version_two) {
    root->Add("KeyCount", std::to_string(count));
    if (!token.empty()) root->Add("NextContinuationToken", token);
    return;
  }
  if (token.empty()) return;
  root->Add(asked.versions ? "NextKeyMarker" : "NextMarker", writer.Name(writer.last()));
  if (asked.versions) {
    root->Add("NextMarker", writer.Name(writer.last()));
    root->Add("NextGenerationMarker", token);
  }
}

ListQuery QueryOf(const ListingRequest& asked) {
  ListQuery query;
  query.prefix = asked.prefix;
  query.delimiter = asked.delimiter;
  query.max_results = asked.max_keys;
  query.versions = asked.versions;
  query.page_token = asked.token;
  // A token has the exact position. The marker would skip the remaining versions of its name.
  if (asked.token.empty()) query.start_offset = StartOf(asked);
  return query;
}

void AddPage(const ListingRequest& asked, const Listing& listing, ListingWriter* writer,
             XmlElement* root) {
  for (const ObjectInfo& item : listing.items) writer->Item(item);
  for (const std::string& prefix : listing.prefixes) writer->Prefix(prefix);
  AddNext(asked, listing.next_page_token, *writer, listing.items.size() + listing.prefixes.size(),
          root);
}

}  // namespace

Result<http::Response> ListObjectsXml(const XmlCall& call) {
  ASSIGN_OR_RETURN(const ListingRequest asked, ListingRequestOf(call.request));
  XmlElement root = XmlRoot("ListBucketResult");
  ListingWriter writer(asked, &root);
  AddHead(asked, call.place.bucket, writer, &root);
  if (asked.max_keys == 0) {  // boto tests in this way if a bucket exists
    RETURN_IF_ERROR(call.InjectFault("storage.buckets.get"));
    RETURN_IF_ERROR(call.storage().GetBucket(call.place.bucket));
    AddNext(asked, "", writer, 0, &root);
    return XmlResponse(root);
  }
  RETURN_IF_ERROR(call.InjectFault("storage.objects.list"));
  ASSIGN_OR_RETURN(const ObjectPage page,
                   call.storage().ListObjects(call.place.bucket, QueryOf(asked)));
  AddPage(asked, page.listing, &writer, &root);
  return XmlResponse(root);
}

}  // namespace caip::gcs
