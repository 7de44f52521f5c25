#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/json_messages.h"
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

constexpr size_t kFilterBatch = 256;  // jobs that are read at a time for a filter

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
  ASSIGN_OR_RETURN(const run::Job job, FindMlJob(engine, project, job_id));
  return ResourceOf(job);
}

Result<std::vector<PageItem>> ReadJobs(engine::Engine& engine, const engine::JobQuery& query,
                                       const ml::JobFilter& filter) {
  ASSIGN_OR_RETURN(const std::vector<run::Job> jobs, engine.List(query));
  std::vector<PageItem> items;
  for (const run::Job& stored : jobs) {
    ASSIGN_OR_RETURN(const ml::Job job, ml::RenderJob(stored));
    items.push_back({PlaceInList(stored), std::nullopt});
    if (filter.Matches(job)) items.back().json = ml::ToJson(job);
  }
  return items;
}

// GET v1/projects/{project}/jobs: newest first.
Result<Json> ListJobs(engine::Engine& engine, const http::Request& request,
                      const std::string& project) {
  ASSIGN_OR_RETURN(const Page page, ReadPage(request));
  ASSIGN_OR_RETURN(const ml::JobFilter filter, ml::JobFilter::Parse(request.Query("filter")));
  const bool filtered = !Trim(request.Query("filter")).empty();
  return AnswerPage(page, "jobs", filtered ? kFilterBatch : page.size + 1,
                    [&](const std::string& after, size_t count) -> Result<std::vector<PageItem>> {
                      engine::JobQuery query{project, static_cast<int>(count)};
                      if (!ContinueAfter(after, query)) return ml::errors::PageTokenBroken();
                      return ReadJobs(engine, query, filter);
                    });
}

// The parts of a job that a patch changes or compares.
struct PatchMask {
  bool labels = false;
  bool etag = false;
};

// Reads updateMask; only labels and etag may be updated. A repeated updateMask names all its paths.
Result<PatchMask> ReadPatchMask(const http::Request& request) {
  PatchMask mask;
  for (const auto& [name, value] : request.query) {
    if (name != "updateMask") continue;
    for (const std::string& path : Split(value, ',')) {
      const std::string trimmed(Trim(path));
      if (trimmed.empty()) continue;
      if (trimmed != "labels" && trimmed != "etag") return ml::errors::UpdateMaskIllegal(trimmed);
      (trimmed == "labels" ? mask.labels : mask.etag) = true;
    }
  }
  if (!mask.labels && !mask.etag) return ml::errors::UpdateMaskMissing();
  return mask;
}

// A patch of the etag alone changes nothing, but fails if the job has another etag.
Result<Json> CompareEtag(engine::Engine& engine, const std::string& project,
                         const std::string& job_id, const std::string& etag) {
  ASSIGN_OR_RETURN(const run::Job present, FindMlJob(engine, project, job_id));
  ASSIGN_OR_RETURN(const ml::Job shown, ml::RenderJob(present));
  if (etag != shown.etag) return ml::errors::EtagStale();
  return ml::ToJson(shown);
}

Result<Json> SetLabels(engine::Engine& engine, const std::string& project,
                       const std::string& job_id, const ml::Job& change,
                       const std::optional<std::string>& etag) {
  RETURN_IF_ERROR(FindMlJob(engine, project, job_id));
  if (auto broken = ml::ValidateLabels(change.labels); !broken.empty()) {
    return ml::ValidationError(std::move(broken));
  }
  ASSIGN_OR_RETURN(const run::Job updated,
                   engine.Update(project, job_id, [&](const run::Job& present) {
                     return ml::WithLabels(present, change.labels, etag);
                   }));
  return ResourceOf(updated);
}

// PATCH v1/projects/{project}/jobs/{job}?updateMask=labels[,etag]
Result<Json> PatchJob(engine::Engine& engine, const http::Request& request,
                      const std::string& project, const std::string& job_id) {
  ASSIGN_OR_RETURN(const PatchMask mask, ReadPatchMask(request));
  ASSIGN_OR_RETURN(const Json body, ReadJsonBody(request));
  ASSIGN_OR_RETURN(const ml::Job change, ml::ParseJob(body));
  std::optional<std::string> etag;
  if (mask.etag) etag = change.etag;
  if (etag && etag->empty()) return ml::errors::EtagMissing();
  return mask.labels ? SetLabels(engine, project, job_id, change, etag)
                     : CompareEtag(engine, project, job_id, *etag);
}

// POST v1/projects/{project}/jobs/{job}:cancel. The body is an empty message, or nothing.
Result<Json> CancelJob(engine::Engine& engine, const http::Request& request,
                       const std::string& project, const std::string& job_id) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonObject(request));
  std::vector<FieldViolation> unknown = UnknownNamesIn(body);
  if (!unknown.empty()) return google::errors::NotTheMessage(std::move(unknown));
  RETURN_IF_ERROR(FindMlJob(engine, project, job_id));
  RETURN_IF_ERROR(engine.Cancel(project, job_id));
  return Json::object();
}

}  // namespace

Result<run::Job> FindMlJob(const engine::Engine& engine, const std::string& project,
                           const std::string& job_id) {
  auto job = engine.Get(project, job_id);
  if (job.ok() && !job->api.empty()) return ml::errors::JobNotFound();
  return job;
}

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
         return Respond(request, CancelJob(engine, request, at.At("project"), at.At("job")));
       }},
  };
}

}  // namespace caip::api
