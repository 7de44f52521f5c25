#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/service/object_fields.h"

namespace caip::gcs {
namespace {

using http::PathParameters;
using http::Request;
using http::Response;

constexpr size_t kKeyPageMax = 250;

using KeyMethod = Result<Response> (*)(ServiceKeys&, const Request&, const PathParameters&);

Json KeyJson(const HmacKey& key, const std::string& base) {
  return {{"kind", "storage#hmacKeyMetadata"},
          {"id", key.project + "/" + key.access_id},
          {"selfLink", base + "/storage/v1/projects/" + key.project + "/hmacKeys/" + key.access_id},
          {"accessId", key.access_id},
          {"projectId", key.project},
          {"serviceAccountEmail", key.account},
          {"state", key.state},
          {"timeCreated", Rfc3339(key.created, 3)},
          {"updated", Rfc3339(key.updated, 3)},
          {"etag", EtagOf(key)}};
}

Result<Response> CreateKey(ServiceKeys& keys, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(
      const HmacKey key,
      keys.CreateHmac(path.At("project"), std::string(request.Query("serviceAccountEmail"))));
  return Rendered(Json{{"kind", "storage#hmacKey"},
                       {"metadata", KeyJson(key, request.BaseUrl())},
                       {"secret", key.secret}});
}

bool IsListed(const HmacKey& key, const Request& request) {
  const std::string_view account = request.Query("serviceAccountEmail");
  const bool deleted_too = IsTrue(request.Query("showDeletedKeys"));
  return key.access_id > request.Query("pageToken") &&
         (account.empty() || key.account == account) && (deleted_too || key.state != "DELETED");
}

// The token is the last access id of the previous page.
Json KeyPage(std::vector<HmacKey> keys, size_t limit, const Request& request) {
  Json page = {{"kind", "storage#hmacKeysMetadata"}};
  std::erase_if(keys, [&](const HmacKey& key) { return !IsListed(key, request); });
  if (keys.size() > limit) {
    keys.resize(limit);
    page["nextPageToken"] = keys.back().access_id;
  }
  for (const HmacKey& key : keys) page["items"].push_back(KeyJson(key, request.BaseUrl()));
  return page;
}

Result<Response> ListKeys(ServiceKeys& keys, const Request& request, const PathParameters& path) {
  RETURN_IF_ERROR(CheckParameters(request, "storage.projects.hmacKeys.list"));
  ASSIGN_OR_RETURN(const size_t limit, PageSize(request, kKeyPageMax));
  return Rendered(KeyPage(keys.ListHmac(path.At("project")), limit, request));
}

Result<Response> GetKey(ServiceKeys& keys, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const HmacKey key, keys.GetHmac(path.At("project"), path.At("key")));
  return Rendered(KeyJson(key, request.BaseUrl()));
}

Result<Response> UpdateKey(ServiceKeys& keys, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json given, JsonBody(request));
  ASSIGN_OR_RETURN(const Json body, ReadResource(given, resource_fields::kHmacKey));
  ASSIGN_OR_RETURN(const HmacKey key,
                   keys.UpdateHmac(path.At("project"), path.At("key"), StringOr(body, "state"),
                                   StringOr(body, "etag")));
  return Rendered(KeyJson(key, request.BaseUrl()));
}

Result<Response> DeleteKey(ServiceKeys& keys, const Request&, const PathParameters& path) {
  RETURN_IF_ERROR(keys.DeleteHmac(path.At("project"), path.At("key")));
  return NoContent();
}

// Request: {"payload": base64, "delegates": [...]}. Response: {"keyId", "signedBlob"}.
Result<Response> SignBlob(ServiceKeys& keys, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  const auto bytes = FromBase64(StringOr(body, "payload"));
  if (!bytes || bytes->empty()) return errors::FieldInvalid("payload", "expected base64");
  ASSIGN_OR_RETURN(const auto made, keys.SignAs(path.At("account"), *bytes));
  return Rendered(Json{{"keyId", made.key_id}, {"signedBlob", Base64(made.signature)}});
}

Result<Response> ListPublicKeys(ServiceKeys& keys, const Request&, const PathParameters& path) {
  return Rendered(Json{{"publicKeys", keys.PublicKeysOf(path.At("account"))}});
}

Result<Response> AddPublicKey(ServiceKeys& keys, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  RETURN_IF_ERROR(keys.Register(path.At("account"), StringOr(body, "publicKey")));
  return ListPublicKeys(keys, request, path);
}

http::Route KeyRoute(const std::shared_ptr<ServiceKeys>& keys, const char* verb,
                     const std::string& pattern, const char* id, KeyMethod call) {
  return {verb, pattern, id, [keys, call](const Request& request, const PathParameters& path) {
            auto response = call(*keys, request, path);
            return response.ok() ? std::move(*response) : errors::ToResponse(response.error());
          }};
}

}  // namespace

std::vector<http::Route> HmacKeyRoutes(std::shared_ptr<ServiceKeys> keys) {
  std::vector<http::Route> routes;
  for (const std::string prefix : {"/storage/v1", ""}) {
    const std::string all = prefix + "/projects/{project}/hmacKeys";
    const std::string one = all + "/{key}";
    const auto add = [&](const char* verb, const std::string& pattern, const char* id,
                         KeyMethod call) {
      routes.push_back(KeyRoute(keys, verb, pattern, id, call));
    };
    add("POST", all, "storage.projects.hmacKeys.create", CreateKey);
    add("GET", all, "storage.projects.hmacKeys.list", ListKeys);
    add("GET", one, "storage.projects.hmacKeys.get", GetKey);
    add("PUT", one, "storage.projects.hmacKeys.update", UpdateKey);
    add("DELETE", one, "storage.projects.hmacKeys.delete", DeleteKey);
  }
  return routes;
}

std::vector<http::Route> AccountKeyRoutes(std::shared_ptr<ServiceKeys> keys) {
  constexpr const char* kKeys = "/emulator/v1/serviceAccounts/{account}/publicKeys";
  return {
      KeyRoute(keys, "POST", "/v1/projects/{project}/serviceAccounts/{account}:signBlob",
               "iamcredentials.projects.serviceAccounts.signBlob", SignBlob),
      KeyRoute(keys, "GET", kKeys, "emulator.serviceAccounts.publicKeys.list", ListPublicKeys),
      KeyRoute(keys, "PUT", kKeys, "emulator.serviceAccounts.publicKeys.add", AddPublicKey),
  };
}

}  // namespace caip::gcs
