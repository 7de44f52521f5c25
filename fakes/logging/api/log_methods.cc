// logs.list, logs.delete and the descriptors of monitored resources.

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/json_messages.h"
#include "fakes/logging/api/log_names.h"
#include "fakes/logging/api/logging_api.h"

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
  if (StringOr(token, "parent") != parent) return errors::PageTokenOfAnother();
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

}  // namespace caip::logging
