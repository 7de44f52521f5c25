// Log buckets and their views: the two that every project has. The other methods answer 501.

#include "base/json.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/json_messages.h"
#include "fakes/logging/api/logging_api.h"

namespace caip::logging {
namespace {

struct KnownBucket {
  const char* name;
  int retention_days;
  bool is_locked;
};
constexpr KnownBucket kLogBuckets[] = {{"_Default", 30, false}, {"_Required", 400, true}};

std::string BucketName(const std::string& parent, const std::string& bucket) {
  return parent + "/locations/global/buckets/" + bucket;
}

Json BucketJson(const std::string& parent, const KnownBucket& bucket) {
  Json json = {{"name", BucketName(parent, bucket.name)},
               {"description", bucket.is_locked ? "Audit bucket" : "Default bucket"},
               {"retentionDays", bucket.retention_days},
               {"lifecycleState", "ACTIVE"}};
  if (bucket.is_locked) json["locked"] = true;
  return json;
}

Json ViewJson(const std::string& parent, const std::string& bucket, const std::string& view) {
  return {{"name", BucketName(parent, bucket) + "/views/" + view}};
}

// Both buckets are in the location "global".
bool HasBuckets(const std::string& location) { return location == "global" || location == "-"; }

Result<Json> ListBuckets(const std::string& parent, const http::PathParameters& at) {
  Json answer = Json::object();
  if (!HasBuckets(at.At("location"))) return answer;
  for (const KnownBucket& bucket : kLogBuckets) {
    answer["buckets"].push_back(BucketJson(parent, bucket));
  }
  return answer;
}

Result<Json> GetBucket(const std::string& parent, const http::PathParameters& at) {
  for (const KnownBucket& bucket : kLogBuckets) {
    if (HasBuckets(at.At("location")) && at.At("bucket") == bucket.name) {
      return BucketJson(parent, bucket);
    }
  }
  return errors::ResourceNotFound("Bucket", at.At("bucket"));
}

Result<Json> ListViews(const std::string& parent, const http::PathParameters& at) {
  ASSIGN_OR_RETURN(const Json bucket, GetBucket(parent, at));
  Json answer = {{"views", {ViewJson(parent, at.At("bucket"), "_AllLogs")}}};
  if (at.At("bucket") == "_Default") {
    answer["views"].push_back(ViewJson(parent, "_Default", "_Default"));
  }
  return answer;
}

Result<Json> GetView(const std::string& parent, const http::PathParameters& at) {
  ASSIGN_OR_RETURN(const Json views, ListViews(parent, at));
  for (const Json& view : views["views"]) {
    if (StringOr(view, "name").ends_with("/views/" + at.At("view"))) return view;
  }
  return errors::ResourceNotFound("View", at.At("view"));
}

}  // namespace

std::vector<http::Route> BucketRoutes() {
  using Method = Result<Json> (*)(const std::string&, const http::PathParameters&);
  std::vector<http::Route> routes;
  for (const std::string kind : {"projects", "organizations", "folders", "billingAccounts"}) {
    const std::string buckets = "/v2/" + kind + "/{id}/locations/{location}/buckets";
    const std::string one = buckets + "/{bucket}";
    const auto get = [&](const std::string& path, const char* id, Method method) {
      routes.push_back(
          {"GET", path, "logging." + kind + ".locations." + id,
           [kind, method](const http::Request& request, const http::PathParameters& at) {
             return MakeResponse(request, method(kind + "/" + at.At("id"), at));
           }});
    };
    get(buckets, "buckets.list", ListBuckets);
    get(one, "buckets.get", GetBucket);
    get(one + "/views", "buckets.views.list", ListViews);
    get(one + "/views/{view}", "buckets.views.get", GetView);
    const auto refuse = [&](const char* verb, const std::string& path, const char* id) {
      const std::string name = "logging." + kind + "." + id;
      routes.push_back(
          {verb, path, name, [name](const http::Request& request, const http::PathParameters&) {
             return MakeResponse(request, errors::MethodNotEmulated(name));
           }});
    };
    refuse("POST", buckets, "locations.buckets.create");
    refuse("PATCH", one, "locations.buckets.patch");
    refuse("DELETE", one, "locations.buckets.delete");
    refuse("POST", one + "/views", "locations.buckets.views.create");
    refuse("PATCH", one + "/views/{view}", "locations.buckets.views.patch");
    refuse("DELETE", one + "/views/{view}", "locations.buckets.views.delete");
    refuse("GET", one + "/links", "locations.buckets.links.list");
    refuse("GET", "/v2/" + kind + "/{id}/settings", "getSettings");
    refuse("GET", "/v2/" + kind + "/{id}/cmekSettings", "getCmekSettings");
  }
  return routes;
}

}  // namespace caip::logging
