// The three kinds of access control lists, which differ in where they are kept.
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/json/bucket_json.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/store/bucket_rules.h"

namespace caip::gcs {
namespace {

enum class List { kBucket, kDefault, kObject };

List ListOf(const Request& request, const PathParameters& path) {
  if (!path.At("object").empty()) return List::kObject;
  return request.path.find("/defaultObjectAcl") != std::string::npos ? List::kDefault
                                                                     : List::kBucket;
}

Result<Bucket> BucketWithLists(StorageApi& api, const PathParameters& path) {
  ASSIGN_OR_RETURN(Bucket bucket, api.store.GetBucket(path.At("bucket")));
  if (RulesOf(bucket).uniform_access) return errors::UniformAccess(bucket.name);
  return bucket;
}

// The list as resources.
Result<Json> Entries(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Bucket bucket, BucketWithLists(api, path));
  const std::string base = BaseOf(request);
  switch (ListOf(request, path)) {
    case List::kBucket:
      return BucketAcl(bucket, base);
    case List::kDefault:
      return DefaultObjectAcl(bucket, base);
    case List::kObject:
      break;
  }
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   api.store.GetObject(path.At("bucket"), path.At("object"), version));
  return ObjectAcl(bucket, info, base);
}

Result<Json> Entry(StorageApi& api, const Request& request, const PathParameters& path,
                   const std::string& entity) {
  ASSIGN_OR_RETURN(const Json entries, Entries(api, request, path));
  for (const Json& entry : entries) {
    if (StringOr(entry, "entity") == entity) return entry;
  }
  return errors::EntryNotFound("access control entry", entity);
}

// Takes the entity's entry out, and puts `role` in where there is one.
Status Replace(Json* entries, const std::string& entity, const std::string& role) {
  Json kept = Json::array();
  bool found = false;
  for (const Json& entry : *entries) {
    if (StringOr(entry, "entity") != entity) {
      kept.push_back(entry);
    } else {
      found = true;
    }
  }
  if (role.empty() && !found) return errors::EntryNotFound("access control entry", entity);
  if (!role.empty()) kept.push_back(Json{{"entity", entity}, {"role", role}});
  *entries = std::move(kept);
  return Ok{};
}

Status Change(StorageApi& api, const Request& request, const PathParameters& path,
              const std::string& entity, const std::string& role) {
  ASSIGN_OR_RETURN(const Bucket bucket, BucketWithLists(api, path));
  const List list = ListOf(request, path);
  if (list == List::kObject) {
    const auto change = [&](ObjectInfo* info) -> Status {
      Json entries = BareObjectAcl(bucket, *info);
      RETURN_IF_ERROR(Replace(&entries, entity, role));
      info->acl = CompactJson(entries);
      return Ok{};
    };
    RETURN_IF_ERROR(ChangeObject(api, request, path, change));
    return Ok{};
  }
  const auto change = [&](Bucket* changed) -> Status {
    const bool of_bucket = list == List::kBucket;
    Json entries = of_bucket ? BareBucketAcl(*changed) : BareDefaultAcl(*changed);
    RETURN_IF_ERROR(Replace(&entries, entity, role));
    Json policies = PoliciesOf(*changed);
    policies[of_bucket ? "acl" : "defaultObjectAcl"] = std::move(entries);
    SetPolicies(policies, changed);
    return Ok{};
  };
  RETURN_IF_ERROR(ChangeBucket(api, request, bucket.name, change));
  return Ok{};
}

}  // namespace

Result<Response> ListAcl(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(Json entries, Entries(api, request, path));
  const bool of_bucket = ListOf(request, path) == List::kBucket;
  Json page = {
      {"kind", of_bucket ? "storage#bucketAccessControls" : "storage#objectAccessControls"}};
  if (!entries.empty()) page["items"] = std::move(entries);
  return Rendered(page);
}

Result<Response> GetAclEntry(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json entry, Entry(api, request, path, path.At("entity")));
  return Rendered(entry);
}

// POST (the entity is in the body), PUT and PATCH (it is in the path). PUT makes what is not there,
// as client libraries expect that set an entity's role by it.
Result<Response> PutAclEntry(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json wanted, JsonBody(request));
  std::string entity = path.At("entity");
  if (request.method == "PATCH") RETURN_IF_ERROR(Entry(api, request, path, entity));
  if (entity.empty()) entity = StringOr(wanted, "entity");
  const std::string role = StringOr(wanted, "role");
  RETURN_IF_ERROR(CheckAcl(Json::array({Json{{"entity", entity}, {"role", role}}})));
  RETURN_IF_ERROR(Change(api, request, path, entity, role));
  ASSIGN_OR_RETURN(const Json entry, Entry(api, request, path, entity));
  return Rendered(entry);
}

Result<Response> DeleteAclEntry(StorageApi& api, const Request& request,
                                const PathParameters& path) {
  RETURN_IF_ERROR(Change(api, request, path, path.At("entity"), ""));
  return NoContent();
}

}  // namespace caip::gcs
