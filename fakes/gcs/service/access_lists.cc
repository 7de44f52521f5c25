#include "fakes/gcs/service/access_lists.h"

#include "base/encoding.h"
#include "base/json.h"

#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/bucket_json.h"

namespace caip::gcs {
namespace {

constexpr const char* kRoles[] = {"OWNER", "WRITER", "READER"};

Json Entry(std::string_view entity, std::string_view role) {
  return {{"entity", entity}, {"role", role}};
}

Json ProjectPrivate() {
  return Json::array({Entry("project-owners-0", "OWNER"), Entry("project-editors-0", "OWNER"),
                      Entry("project-viewers-0", "READER")});
}

Json Bare(const Bucket& bucket, const char* list) {
  const Json policies = PoliciesOf(bucket);
  const Json* kept = Member(policies, list);
  return kept != nullptr ? *kept : ProjectPrivate();
}

// The entry as a resource of its own.
Json Dressed(const Json& entry, const char* kind, const std::string& id, const std::string& link) {
  const std::string entity = StringOr(entry, "entity");
  const std::string role = StringOr(entry, "role");
  Json json = {{"kind", kind}, {"id", id + "/" + entity}, {"selfLink", link + "/" + entity}};
  json["entity"] = entity;
  json["role"] = role;
  json["etag"] = Base64(entity + role);
  const size_t dash = entity.find('-');
  const std::string type = entity.substr(0, dash);
  if (dash != std::string::npos && (type == "user" || type == "group")) {
    json["email"] = entity.substr(dash + 1);
  } else if (dash != std::string::npos && type == "domain") {
    json["domain"] = entity.substr(dash + 1);
  } else if (type == "project") {
    const size_t last = entity.rfind('-');
    json["projectTeam"] = {{"projectNumber", entity.substr(last + 1)},
                           {"team", entity.substr(dash + 1, last - dash - 1)}};
  }
  return json;
}

}  // namespace

Json BareBucketAcl(const Bucket& bucket) { return Bare(bucket, "acl"); }

Json BareDefaultAcl(const Bucket& bucket) { return Bare(bucket, "defaultObjectAcl"); }

Json BareObjectAcl(const Bucket& bucket, const ObjectInfo& info) {
  if (auto own = ParseJson(info.acl); own.ok() && own->is_array()) return std::move(*own);
  return BareDefaultAcl(bucket);
}

Json BucketAcl(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const Json& entry : BareBucketAcl(bucket)) {
    Json json = Dressed(entry, "storage#bucketAccessControl", bucket.name,
                        base + "/storage/v1/b/" + bucket.name + "/acl");
    json["bucket"] = bucket.name;
    list.push_back(std::move(json));
  }
  return list;
}

Json DefaultObjectAcl(const Bucket& bucket, const std::string& base) {
  Json list = Json::array();
  for (const Json& entry : BareDefaultAcl(bucket)) {
    list.push_back(Dressed(entry, "storage#objectAccessControl", bucket.name,
                           base + "/storage/v1/b/" + bucket.name + "/defaultObjectAcl"));
  }
  return list;
}

Json ObjectAcl(const Bucket& bucket, const ObjectInfo& info, const std::string& base) {
  Json list = Json::array();
  const std::string generation = std::to_string(info.generation);
  for (const Json& entry : BareObjectAcl(bucket, info)) {
    Json json = Dressed(
        entry, "storage#objectAccessControl", bucket.name + "/" + info.name + "/" + generation,
        base + "/storage/v1/b/" + bucket.name + "/o/" + PercentEncoded(info.name) + "/acl");
    json["bucket"] = bucket.name;
    json["object"] = info.name;
    json["generation"] = generation;
    list.push_back(std::move(json));
  }
  return list;
}

Status CheckAcl(const Json& entries) {
  if (!entries.is_array()) return errors::FieldInvalid("acl", "expected a list");
  for (const Json& entry : entries) {
    if (StringOr(entry, "entity").empty()) return errors::Required("entity");
    bool known = false;
    for (const char* role : kRoles) known = known || StringOr(entry, "role") == role;
    if (!known) return errors::FieldInvalid("role", "expected OWNER, WRITER or READER");
  }
  return Ok{};
}

Result<Json> PredefinedAcl(std::string_view name) {
  const Json owner = Entry("project-owners-0", "OWNER");
  if (name == "private" || name == "bucketOwnerRead" || name == "bucketOwnerFullControl") {
    return Json::array({owner});
  }
  if (name == "projectPrivate") return ProjectPrivate();
  if (name == "publicRead") return Json::array({owner, Entry("allUsers", "READER")});
  if (name == "publicReadWrite") return Json::array({owner, Entry("allUsers", "WRITER")});
  if (name == "authenticatedRead") {
    return Json::array({owner, Entry("allAuthenticatedUsers", "READER")});
  }
  return errors::ParameterInvalid("predefinedAcl", name, "it is none of the service's lists");
}

}  // namespace caip::gcs
