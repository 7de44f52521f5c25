// logs.list, logs.delete and the descriptors of monitored resources.

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/logging_api.h"
#include "fakes/logging/api/messages.h"

namespace caip::logging {
namespace {

constexpr size_t kLogsPageStandard = 50;
constexpr size_t kLogsPageMax = 1000;

Result<size_t> QueryPageSize(const http::Request& request) {
  const std::string text(request.Query("pageSize"));
  const long long asked = text.empty() ? 0 : IntOr(Json{{"n", text}}, "n", INT64_MIN);
  if (asked == INT64_MIN) return errors::MemberMisfit("pageSize", "a number");
  return LimitPageSize(asked, kLogsPageStandard, kLogsPageMax);
}

// Reads from the page token the last log of the previous page.
Result<std::string> QueryPageStart(const http::Request& request, const std::string& parent) {
  const std::string_view text = request.Query("pageToken");
  if (text.empty()) return std::string();
  ASSIGN_OR_RETURN(const Json token, ParsePageToken(text));
  if (StringOr(token, "parent") != parent) return errors::PageTokenMismatch();
  return StringOr(token, "log");
}

// `name` is a parent, or a view of its bucket.
Result<Json> ListLogs(const LoggingApi& api, const http::Request& request,
                      const std::string& name) {
  ASSIGN_OR_RETURN(const ListedResource resource, ParseListedResource(name));
  ASSIGN_OR_RETURN(const size_t limit, QueryPageSize(request));
  ASSIGN_OR_RETURN(const std::string after, QueryPageStart(request, resource.parent));
  if (resource.is_empty) return Json::object();
  ASSIGN_OR_RETURN(std::vector<std::string> ids,
                   api.book.LogIds(resource.parent, after, limit + 1));
  const bool has_more = ids.size() > limit;
  if (has_more) ids.pop_back();
  Json answer = Json::object();
  for (const std::string& id : ids)
    answer["logNames"].push_back(LogNameText({resource.parent, id}));
  if (has_more) {
    answer["nextPageToken"] = MakePageToken({{"parent", resource.parent}, {"log", ids.back()}});
  }
  return answer;
}

Result<Json> DeleteLog(const LoggingApi& api, const std::string& parent,
                       const std::string& log_id) {
  ASSIGN_OR_RETURN(const LogKey log, ParseLogName(parent + "/logs/" + PercentEncoded(log_id)));
  RETURN_IF_ERROR(api.book.DeleteLog(log));
  return Json::object();
}

struct Descriptor {
  const char* type;
  const char* name;
  std::vector<const char*> labels;
};

Json DescriptorJson(const Descriptor& descriptor) {
  Json labels = Json::array();
  for (const char* label : descriptor.labels) labels.push_back({{"key", label}});
  return {{"type", descriptor.type},
          {"displayName", descriptor.name},
          {"labels", std::move(labels)},
          {"launchStage", "GA"}};
}

Json Descriptors() {
  const Descriptor descriptors[] = {
      {"ml_job", "Cloud ML Job", {"project_id", "job_id", "task_name"}},
      {"cloudml_job", "Cloud ML Job", {"project_id", "job_id", "task_name"}},
      {"cloudml_model_version",
       "Cloud ML Model Version",
       {"project_id", "model_id", "version_id", "region"}},
      {"global", "Global", {"project_id"}},
      {"project", "Google Project", {"project_id"}},
      {"gce_instance", "VM Instance", {"project_id", "instance_id", "zone"}},
      {"gcs_bucket", "GCS Bucket", {"project_id", "bucket_name", "location"}},
      {"generic_node", "Generic Node", {"project_id", "location", "namespace", "node_id"}},
      {"generic_task", "Generic Task", {"project_id", "location", "namespace", "job", "task_id"}},
      {"k8s_container",
       "Kubernetes Container",
       {"project_id", "location", "cluster_name", "namespace_name", "pod_name", "container_name"}},
  };
  Json list = Json::array();
  for (const Descriptor& descriptor : descriptors) list.push_back(DescriptorJson(descriptor));
  return {{"resourceDescriptors", std::move(list)}};
}

}  // namespace

std::vector<http::Route> LogRoutes(const std::shared_ptr<LoggingApi>& api) {
  std::vector<http::Route> routes = {
      {"GET", "/v2/monitoredResourceDescriptors", "logging.monitoredResourceDescriptors.list",
       [](const http::Request& request, const http::PathParameters&) {
         return MakeResponse(request, Descriptors());
       }}};
  for (const std::string kind : {"projects", "organizations", "folders", "billingAccounts"}) {
    const std::string path = "/v2/" + kind + "/{id}";
    const std::string method = "logging." + kind;
    routes.push_back({"GET", path + "/logs", method + ".logs.list",
                      [api, kind](const http::Request& request, const http::PathParameters& at) {
                        return MakeResponse(request,
                                            ListLogs(*api, request, kind + "/" + at.At("id")));
                      }});
    routes.push_back({"GET", path + "/locations/{location}/buckets/{bucket}/views/{view}/logs",
                      method + ".locations.buckets.views.logs.list",
                      [api, kind](const http::Request& request, const http::PathParameters& at) {
                        const std::string name = kind + "/" + at.At("id") + "/locations/" +
                                                 at.At("location") + "/buckets/" + at.At("bucket") +
                                                 "/views/" + at.At("view");
                        return MakeResponse(request, ListLogs(*api, request, name));
                      }});
    routes.push_back({"DELETE", path + "/logs/{log...}", method + ".logs.delete",
                      [api, kind](const http::Request& request, const http::PathParameters& at) {
                        return MakeResponse(
                            request, DeleteLog(*api, kind + "/" + at.At("id"), at.At("log")));
                      }});
  }
  return routes;
}

// The two log buckets that every project has, and their views. The other methods answer 501.

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
