// The three kinds of access control lists, and IAM policies.
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/json/resources.h"

namespace caip::gcs {
namespace {

Result<AccessListPlace> ListAt(const Request& request, const PathParameters& path) {
  AccessListPlace place{AccessListKind::kBucket, ObjectAt(path)};
  if (!place.object.name.empty()) {
    place.kind = AccessListKind::kObject;
    ASSIGN_OR_RETURN(place.version, VersionOf(request));
  } else if (request.path.find("/defaultObjectAcl") != std::string::npos) {
    place.kind = AccessListKind::kNewObjects;
  }
  return place;
}

// Reads the list as resources.
Result<Json> ReadEntries(const StorageService& service, const Request& request,
                         const AccessListPlace& place) {
  ASSIGN_OR_RETURN(const AccessList list, service.GetAccessList(place));
  const std::string base = request.BaseUrl();
  if (list.object) return AclJson(*list.object, list.entries, base);
  return place.kind == AccessListKind::kBucket ? BucketAclJson(list.bucket, base)
                                               : NewObjectAclJson(list.bucket, base);
}

Result<Json> FindAclEntry(const StorageService& service, const Request& request,
                          const AccessListPlace& place, const std::string& entity) {
  ASSIGN_OR_RETURN(const Json entries, ReadEntries(service, request, place));
  for (const Json& entry : entries) {
    if (StringOr(entry, "entity") == entity) return entry;
  }
  return errors::EntryNotFound("access control entry", entity);
}

Status WriteEntry(StorageService& service, const Request& request, const AccessListPlace& place,
                  const AccessEntry& entry) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  return service.SetAccessEntry(place, conditions, entry);
}

// The entity in the path replaces that of the body, unless the latter has the wrong type.
Json WithEntity(Json body, const std::string& entity) {
  if (entity.empty()) return body;
  if (body.is_null()) body = Json::object();
  const Json* given = Member(body, "entity");
  if (given == nullptr || given->is_null() || given->is_string()) body["entity"] = entity;
  return body;
}

Result<PolicyPlace> PolicyAt(const Request& request, const PathParameters& path) {
  PolicyPlace place{path.At("bucket"), path.At("object"), FolderName(path.At("folder"))};
  if (place.object.empty()) return place;
  ASSIGN_OR_RETURN(place.version, VersionOf(request));
  return place;
}

Response RenderedPolicy(const PolicyPlace& place, Json policy) {
  std::string id = "projects/_/buckets/" + place.bucket;
  if (!place.object.empty()) id += "/objects/" + place.object;
  if (!place.folder.empty()) id += "/managedFolders/" + place.folder;
  policy["kind"] = "storage#policy";
  policy["resourceId"] = id;
  return Rendered(policy);
}

}  // namespace

Result<Response> ListAcl(StorageService& service, const Request& request,
                         const PathParameters& path) {
  ASSIGN_OR_RETURN(const AccessListPlace place, ListAt(request, path));
  ASSIGN_OR_RETURN(Json entries, ReadEntries(service, request, place));
  const bool of_bucket = place.kind == AccessListKind::kBucket;
  Json page = {
      {"kind", of_bucket ? "storage#bucketAccessControls" : "storage#objectAccessControls"}};
  if (!entries.empty()) page["items"] = std::move(entries);
  return Rendered(page);
}

Result<Response> GetAclEntry(StorageService& service, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const AccessListPlace place, ListAt(request, path));
  ASSIGN_OR_RETURN(const Json entry, FindAclEntry(service, request, place, path.At("entity")));
  return Rendered(entry);
}

// POST (the entity is in the body), PUT and PATCH (it is in the path). PUT also creates a missing
// entry, because client libraries set an entity's role with it.
Result<Response> PutAclEntry(StorageService& service, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(const AccessListPlace place, ListAt(request, path));
  const std::string& named = path.At("entity");
  if (request.method == "PATCH") {
    RETURN_IF_ERROR(FindAclEntry(service, request, place, named));
  }
  ASSIGN_OR_RETURN(const AccessEntry entry, ReadEntry(WithEntity(body, named), place.kind));
  RETURN_IF_ERROR(WriteEntry(service, request, place, entry));
  ASSIGN_OR_RETURN(const Json shown, FindAclEntry(service, request, place, entry.entity));
  return Rendered(shown);
}

Result<Response> DeleteAclEntry(StorageService& service, const Request& request,
                                const PathParameters& path) {
  ASSIGN_OR_RETURN(const AccessListPlace place, ListAt(request, path));
  RETURN_IF_ERROR(WriteEntry(service, request, place, {path.At("entity"), ""}));
  return NoContent();
}

// GET .../iam
Result<Response> GetIamPolicy(StorageService& service, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const PolicyPlace place, PolicyAt(request, path));
  ASSIGN_OR_RETURN(Json policy, service.GetIamPolicy(place));
  return RenderedPolicy(place, std::move(policy));
}

// PUT .../iam
Result<Response> SetIamPolicy(StorageService& service, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json policy, JsonBody(request));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const PolicyPlace place, PolicyAt(request, path));
  ASSIGN_OR_RETURN(Json kept, service.SetIamPolicy(place, policy, conditions));
  return RenderedPolicy(place, std::move(kept));
}

// GET .../iam/testPermissions: every client may do everything.
Result<Response> TestIamPermissions(StorageService& service, const Request& request,
                                    const PathParameters& path) {
  ASSIGN_OR_RETURN(const PolicyPlace place, PolicyAt(request, path));
  RETURN_IF_ERROR(service.CheckPolicyPlace(place));
  Json held = Json::array();
  for (const auto& [name, value] : request.query) {
    if (name == "permissions") held.push_back(value);
  }
  if (held.empty()) return errors::Required("permissions");
  return Rendered(Json{{"kind", "storage#testIamPermissionsResponse"}, {"permissions", held}});
}

}  // namespace caip::gcs
