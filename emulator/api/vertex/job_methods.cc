// The methods of customJobs, hyperparameterTuningJobs and trainingPipelines in projects.locations
// (docs/service/vertex.md, sections 2, 3 and 8).

#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/paging.h"
#include "emulator/api/vertex/read_mask.h"
#include "emulator/api/vertex/vertex_routes.h"
#include "google/errors.h"
#include "vertex/beta_fields.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/filter/custom_job_filter.h"
#include "vertex/resource_names.h"

namespace caip::api {
namespace {

using http::PathParameters;
using http::Request;
using vertex::ListedAs;

constexpr size_t kVertexPageSize = 100;   // default and maximum
constexpr size_t kVertexListBatch = 256;  // jobs that are read at a time if not all are listed

/// A collection of jobs of Vertex AI.
struct JobKind {
  std::string_view collection;  // also the name of a list
  const char* message;          // what a create body must be
  ListedAs listed_as;
  Result<Json> (*render)(const run::Job& job, const vertex::RenderOptions& options);
};

constexpr JobKind kJobKinds[] = {
    {vertex::kCustomJobs, "CustomJob", ListedAs::kCustomJob, vertex::RenderCustomJob},
    {vertex::kTuningJobs, "HyperparameterTuningJob", ListedAs::kTuningJob, vertex::RenderTuningJob},
    {vertex::kTrainingPipelines, "TrainingPipeline", ListedAs::kTrainingPipeline,
     vertex::RenderTrainingPipeline}};

VertexParent ParentOf(const PathParameters& at) { return {at.At("project"), at.At("location")}; }

Result<Json> ReadResource(const Request& request, const JobKind& kind) {
  ASSIGN_OR_RETURN(const std::string text, ReadBodyText(request));
  auto body = ParseJson(text);
  if (!body.ok()) return google::errors::BodyMalformed(body.error());
  if (!body->is_object()) return vertex::errors::BodyNoObject(kind.message);
  return body;
}

Result<Json> CreateResource(VertexJobs& jobs, const JobKind& kind, const VertexRoot& version,
                            const Request& request, const PathParameters& at) {
  ASSIGN_OR_RETURN(Json body, ReadResource(request, kind));
  if (version.root == kBetaVersion) {
    std::vector<FieldViolation> unserved = vertex::TakeBetaFields(body);
    if (!unserved.empty()) return vertex::errors::FieldsNotServed(std::move(unserved));
  }
  ASSIGN_OR_RETURN(const run::Job job, jobs.Create(ParentOf(at), kind.collection, body));
  return kind.render(job, jobs.RenderingFor(request));
}

Result<Json> GetResource(VertexJobs& jobs, const JobKind& kind, const Request& request,
                         const PathParameters& at) {
  ASSIGN_OR_RETURN(const run::Job job, jobs.Find(ParentOf(at), kind.collection, at.At("job")));
  return kind.render(job, jobs.RenderingFor(request));
}

/// What a request wants to see of a list.
struct ListView {
  const JobKind& kind;
  vertex::RenderOptions rendering;
  vertex::CustomJobFilter filter = {};
  ReadMask mask = {};

  bool Shows(const run::Job& job) const {
    return IsOfKind(job.document) && filter.Matches(job, rendering.has_queue);
  }
  bool IsOfKind(const run::Document& document) const {
    if (kind.listed_as == ListedAs::kTrainingPipeline) return vertex::IsPipelineJob(document);
    return vertex::IsTuningJob(document) == (kind.listed_as == ListedAs::kTuningJob);
  }
};

Result<std::vector<PageItem>> ReadListed(const VertexJobs& jobs, const VertexParent& parent,
                                         const ListView& view, const std::string& after,
                                         size_t count) {
  const bool has_trials = view.kind.listed_as == ListedAs::kCustomJob;
  ASSIGN_OR_RETURN(
      const std::vector<run::Job> found,
      has_trials ? jobs.ListWithTrials(parent, after, count) : jobs.List(parent, after, count));
  std::vector<PageItem> items;
  for (const run::Job& job : found) {
    items.push_back({PlaceInList(job), std::nullopt});
    if (!view.Shows(job)) continue;
    ASSIGN_OR_RETURN(const Json rendered, view.kind.render(job, view.rendering));
    items.back().json = view.mask.Of(rendered);
  }
  return items;
}

// Newest first.
Result<Json> ListResources(VertexJobs& jobs, const JobKind& kind, const Request& request,
                           const PathParameters& at) {
  static const PagingRules kRules{kVertexPageSize, vertex::errors::PageSizeNegative,
                                  vertex::errors::PageTokenBroken};
  ASSIGN_OR_RETURN(const Page page, ReadPage(request, kRules));
  ListView view{kind, jobs.RenderingFor(request)};
  ASSIGN_OR_RETURN(view.filter,
                   vertex::CustomJobFilter::Parse(request.Query("filter"), kind.listed_as));
  ASSIGN_OR_RETURN(view.mask, ReadMask::Parse(request.Query("readMask")));
  const bool shows_all =
      kind.listed_as == ListedAs::kCustomJob && Trim(request.Query("filter")).empty();
  return AnswerPage(page, kind.collection, shows_all ? page.size + 1 : kVertexListBatch,
                    [&](const std::string& after, size_t count) {
                      return ReadListed(jobs, ParentOf(at), view, after, count);
                    });
}

// The body is an empty message, or nothing.
Result<Json> CancelResource(VertexJobs& jobs, const JobKind& kind, const Request& request,
                            const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonObject(request));
  std::vector<FieldViolation> unknown = UnknownNamesIn(body);
  if (!unknown.empty()) return google::errors::NotTheMessage(std::move(unknown));
  RETURN_IF_ERROR(jobs.Cancel(ParentOf(at), kind.collection, at.At("job")));
  return Json::object();
}

Result<Json> DeleteResource(const VertexWorld& world, const JobKind& kind,
                            const VertexRoot& version, const PathParameters& at) {
  RETURN_IF_ERROR(world.jobs.Remove(ParentOf(at), kind.collection, at.At("job")));
  return world.operations.Add(world.jobs.project_number(), at.At("location"), version.root,
                              world.clock.Now());
}

std::vector<http::Route> MethodsOf(const VertexWorld& world, const JobKind& kind,
                                   const VertexRoot& version) {
  VertexJobs& jobs = world.jobs;
  const std::string all(kind.collection);
  const std::string one = all + "/{job}";
  return {
      VertexRoute(version, "POST", all, all + ".create",
                  [&jobs, &kind, version](const auto& request, const auto& at) {
                    return CreateResource(jobs, kind, version, request, at);
                  }),
      VertexRoute(version, "GET", all, all + ".list",
                  [&jobs, &kind](const auto& request, const auto& at) {
                    return ListResources(jobs, kind, request, at);
                  }),
      VertexRoute(version, "GET", one, all + ".get",
                  [&jobs, &kind](const auto& request, const auto& at) {
                    return GetResource(jobs, kind, request, at);
                  }),
      VertexRoute(version, "DELETE", one, all + ".delete",
                  [world, &kind, version](const auto&, const auto& at) {
                    return DeleteResource(world, kind, version, at);
                  }),
      VertexRoute(version, "POST", one + ":cancel", all + ".cancel",
                  [&jobs, &kind](const auto& request, const auto& at) {
                    return CancelResource(jobs, kind, request, at);
                  }),
  };
}

Result<Json> CheckResource(VertexJobs& jobs, const JobKind& kind, const Request& request,
                           const PathParameters& at) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonObject(request));
  const Json* job = Member(body, "job");
  std::vector<std::string> arriving;
  if (const Json* uris = Member(body, "arriving"); uris && uris->is_array()) {
    for (const Json& uri : *uris) {
      if (uri.is_string()) arriving.push_back(uri.get<std::string>());
    }
  }
  RETURN_IF_ERROR(jobs.Check(ParentOf(at), kind.collection, job ? *job : Json::object(), arriving));
  return Json::object();
}

// The jobs of a project in all regions, for commands on the jobs of both APIs. Newest first in each
// region.
Result<Json> ListOfAllRegions(const VertexJobs& jobs, const std::vector<std::string>& regions,
                              const std::string& project) {
  Json listed = Json::array();
  for (const std::string& region : regions) {
    ASSIGN_OR_RETURN(const std::vector<run::Job> found, jobs.List({project, region}, "", 0));
    for (const run::Job& job : found) {
      Json row = {{"jobId", job.key.job_id}, {"state", run::Name(job.state)}};
      if (job.end_time) row["endTime"] = Rfc3339(*job.end_time, 9);
      listed.push_back(std::move(row));
    }
  }
  return Json{{"jobs", std::move(listed)}};
}

http::Route AllRegionsRoute(const VertexJobs& jobs, const VertexRoot& root) {
  return {"GET", "/" + root.root + "/projects/{project}/customJobs", "emulator.customJobs.list",
          [&jobs, regions = root.regions](const Request& request, const PathParameters& at) {
            return Respond(request, ListOfAllRegions(jobs, *regions, at.At("project")));
          }};
}

}  // namespace

std::vector<http::Route> VertexCheckRoutes(VertexJobs& jobs, std::vector<std::string> regions) {
  const VertexRoot root{"emulator/v1",
                        std::make_shared<const std::vector<std::string>>(std::move(regions))};
  std::vector<http::Route> routes = {AllRegionsRoute(jobs, root)};
  for (const JobKind& kind : kJobKinds) {
    const std::string collection(kind.collection);
    routes.push_back(VertexRoute(root, "POST", collection + ":check", "",
                                 [&jobs, &kind](const auto& request, const auto& at) {
                                   return CheckResource(jobs, kind, request, at);
                                 }));
    routes.back().id = "emulator." + collection + ".check";
  }
  return routes;
}

std::vector<http::Route> VertexJobRoutes(const VertexWorld& world, const VertexRoot& version) {
  std::vector<http::Route> routes;
  for (const JobKind& kind : kJobKinds) {
    for (http::Route& route : MethodsOf(world, kind, version)) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace caip::api
