#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/body.h"
#include "emulator/api/error_body.h"
#include "emulator/api/ml/ml_routes.h"
#include "emulator/api/paging.h"
#include "google/errors.h"
#include "ml/errors.h"
#include "ml/filter/job_filter.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"
#include "ml/validate/validate.h"

namespace caip::api {
namespace {

constexpr int kFilterPage = 256;         // jobs looked through at once for a filter
constexpr int kLookedThroughMax = 4096;  // by one call; then the page may be short, even empty

Result<Json> ReadJsonBody(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, ReadBodyText(request));
  auto body = ParseJson(text);
  if (!body.ok()) return google::errors::BodyMalformed(body.error());
  if (!body->is_object()) return ml::errors::BodyNoObject();
  return body;
}

Result<Json> ResourceOf(const run::Job& job) {
  ASSIGN_OR_RETURN(const ml::Job rendered, ml::RenderJob(job));
  return ml::ToJson(rendered);
}

// POST v1/projects/{project}/jobs
Result<Json> CreateJob(engine::Engine& engine, const http::Request& request,
                       const std::string& project) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonBody(request));
  ASSIGN_OR_RETURN(const run::Job created, engine.Submit(project, body));
  return ResourceOf(created);
}

// GET v1/projects/{project}/jobs/{job}
Result<Json> GetJob(engine::Engine& engine, const std::string& project, const std::string& job_id) {
  ASSIGN_OR_RETURN(const run::Job job, engine.Get(project, job_id));
  return ResourceOf(job);
}

// GET v1/projects/{project}/jobs: newest first. A page ends at the last job it shows; for a filter
// that finds little, after so many jobs that no call takes the longer the more jobs there are.
Result<Json> ListJobs(engine::Engine& engine, const http::Request& request,
                      const std::string& project) {
  ASSIGN_OR_RETURN(const Page page, ReadPage(request));
  ASSIGN_OR_RETURN(const ml::JobFilter filter, ml::JobFilter::Parse(request.Query("filter")));
  Json jobs = Json::array();
  // Without a filter all that is read is shown, but for the one that tells that there are more.
  const bool filtered = !Trim(request.Query("filter")).empty();
  const int batch_size = filtered ? kFilterPage : static_cast<int>(page.size) + 1;
  engine::JobQuery query{project, batch_size, page.after};
  std::string last_looked_at;
  bool more = false;
  int looked_at = 0;
  for (bool at_end = false; !at_end && !more;) {
    more = looked_at >= kLookedThroughMax;
    if (more) break;
    ASSIGN_OR_RETURN(const std::vector<run::Job> batch, engine.List(query));
    at_end = batch.size() < static_cast<size_t>(batch_size);
    looked_at += static_cast<int>(batch.size());
    for (const run::Job& stored : batch) {
      ASSIGN_OR_RETURN(const ml::Job job, ml::RenderJob(stored));
      if (filter.Matches(job)) {
        more = jobs.size() == page.size;
        if (more) break;
        jobs.push_back(ml::ToJson(job));
      }
      query.before_id = last_looked_at = job.job_id;
    }
  }
  Json answer = Json::object();
  if (!jobs.empty()) answer["jobs"] = std::move(jobs);
  if (more) answer["nextPageToken"] = PageToken(last_looked_at);
  return answer;
}

// The paths of updateMask; only labels and etag may be updated. A mask that is given twice is both.
Result<std::vector<std::string>> ReadMask(const http::Request& request) {
  std::string mask;
  for (const auto& [name, value] : request.query) {
    if (name == "updateMask") mask += value + ",";
  }
  std::vector<std::string> paths;
  for (const std::string& path : Split(mask, ',')) {
    const std::string trimmed(Trim(path));
    if (trimmed.empty()) continue;
    if (trimmed != "labels" && trimmed != "etag") return ml::errors::UpdateMaskIllegal(trimmed);
    paths.push_back(trimmed);
  }
  if (paths.empty()) return ml::errors::UpdateMaskMissing();
  return paths;
}

// PATCH v1/projects/{project}/jobs/{job}?updateMask=labels[,etag]
Result<Json> PatchJob(engine::Engine& engine, const http::Request& request,
                      const std::string& project, const std::string& job_id) {
  ASSIGN_OR_RETURN(const std::vector<std::string> mask, ReadMask(request));
  ASSIGN_OR_RETURN(const Json body, ReadJsonBody(request));
  ASSIGN_OR_RETURN(const ml::Job change, ml::ParseJob(body));
  const auto in_mask = [&](const char* path) {
    return std::find(mask.begin(), mask.end(), path) != mask.end();
  };
  std::optional<std::string> etag;
  if (in_mask("etag")) {
    if (change.etag.empty()) return ml::errors::EtagMissing();
    etag = change.etag;
  }
  if (!in_mask("labels")) {
    ASSIGN_OR_RETURN(const run::Job present, engine.Get(project, job_id));
    ASSIGN_OR_RETURN(const ml::Job shown, ml::RenderJob(present));
    if (*etag != shown.etag) return ml::errors::EtagStale();
    return ml::ToJson(shown);
  }
  RETURN_IF_ERROR(engine.Get(project, job_id));
  if (auto broken = ml::ValidateLabels(change.labels); !broken.empty()) {
    return ml::ValidationError(std::move(broken));
  }
  ASSIGN_OR_RETURN(const run::Job updated,
                   engine.Update(project, job_id, [&](const run::Job& present) {
                     return ml::WithLabels(present, change.labels, etag);
                   }));
  return ResourceOf(updated);
}

// POST v1/projects/{project}/jobs/{job}:cancel
Result<Json> CancelJob(engine::Engine& engine, const std::string& project,
                       const std::string& job_id) {
  RETURN_IF_ERROR(engine.Cancel(project, job_id));
  return Json::object();
}

}  // namespace

std::vector<http::Route> JobRoutes(engine::Engine& engine) {
  return {
      {"POST", "/v1/projects/{project}/jobs", "ml.projects.jobs.create",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, CreateJob(engine, request, at.At("project")));
       }},
      {"GET", "/v1/projects/{project}/jobs", "ml.projects.jobs.list",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, ListJobs(engine, request, at.At("project")));
       }},
      {"GET", "/v1/projects/{project}/jobs/{job}", "ml.projects.jobs.get",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, GetJob(engine, at.At("project"), at.At("job")));
       }},
      {"PATCH", "/v1/projects/{project}/jobs/{job}", "ml.projects.jobs.patch",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, PatchJob(engine, request, at.At("project"), at.At("job")));
       }},
      {"POST", "/v1/projects/{project}/jobs/{job}:cancel", "ml.projects.jobs.cancel",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, CancelJob(engine, at.At("project"), at.At("job")));
       }},
  };
}

}  // namespace caip::api
