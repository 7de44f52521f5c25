#include "fakes/gcs/json/access_json.h"

#include "base/encoding.h"
#include "base/json.h"

namespace caip::gcs {
namespace {

// What an entity's name says beside itself: "user-a@b.c", "domain-b.c", "project-owners-123".
void AddEntityParts(const std::string& entity, Json* json) {
  const size_t dash = entity.find('-');
  const std::string type = entity.substr(0, dash);
  if (dash != std::string::npos && (type == "user" || type == "group")) {
    (*json)["email"] = entity.substr(dash + 1);
  } else if (dash != std::string::npos && type == "domain") {
    (*json)["domain"] = entity.substr(dash + 1);
  } else if (type == "project") {
    const size_t last = entity.rfind('-');
    (*json)["projectTeam"] = {{"projectNumber", entity.substr(last + 1)},
                              {"team", entity.substr(dash + 1, last - dash - 1)}};
  }
}

// The entry as a resource of its own.
Json EntryJson(const AccessEntry& entry, const char* kind, const std::string& id,
               const std::string& link) {
  const auto& [entity, role] = entry;
  Json json = {{"kind", kind}, {"id", id + "/" + entity}, {"selfLink", link + "/" + entity}};
  json["entity"] = entity;
  json["role"] = role;
  json["etag"] = Base64(entity + role);
  AddEntityParts(entity, &json);
  return json;
}

}  // namespace

Json BucketAclJson(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const AccessEntry& entry : BucketEntries(bucket)) {
    Json json = EntryJson(entry, "storage#bucketAccessControl", bucket.name,
                          base + "/storage/v1/b/" + bucket.name + "/acl");
    json["bucket"] = bucket.name;
    list.push_back(std::move(json));
  }
  return list;
}

Json NewObjectAclJson(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const AccessEntry& entry : NewObjectEntries(bucket)) {
    list.push_back(EntryJson(entry, "storage#objectAccessControl", bucket.name,
                             base + "/storage/v1/b/" + bucket.name + "/defaultObjectAcl"));
  }
  return list;
}

Json AclJson(const ObjectInfo& info, const AccessEntries& entries, const std::string& base) {
  Json list = Json::array();
  const std::string generation = std::to_string(info.generation);
  const std::string link =
      base + "/storage/v1/b/" + info.bucket + "/o/" + PercentEncoded(info.name) + "/acl";
  for (const AccessEntry& entry : entries) {
    Json json = EntryJson(entry, "storage#objectAccessControl",
                          info.bucket + "/" + info.name + "/" + generation, link);
    json["bucket"] = info.bucket;
    json["object"] = info.name;
    json["generation"] = generation;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace caip::gcs
