#include "emulator/api/vertex/vertex_jobs.h"

#include <utility>

#include "emulator/api/paging.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/training_pipeline.h"

namespace caip::api {
namespace {

constexpr int kNewIdTriesMax = 100;

// Differs after each start of an emulator, so that one with a fixed seed does not give ids again.
std::string PurposeOf(const engine::Engine& engine) {
  const auto created = engine.CountCreated();
  return "vertex ids after " + std::to_string(created.ok() ? *created : 0) + " jobs";
}

// Under which id the engine knows a resource.
std::string StoredId(std::string_view collection, const std::string& id) {
  return collection == vertex::kTrainingPipelines ? vertex::BackingJobId(id) : id;
}

// The value of `$alt` or `alt` that asks for numbers of enums. A client leaves the second equals
// sign as it is.
bool AsksForEnumNumbers(std::string_view alt) { return alt == "json;enum-encoding=int"; }

bool IsOfVertex(const run::Job& job, const VertexParent& parent) {
  return job.api == vertex::kApiName && job.key.location == parent.location;
}

}  // namespace

VertexJobs::VertexJobs(KeptOfJobs kept, Options options)
    : kept_(std::move(kept)),
      options_(std::move(options)),
      random_(Random(options_.seed).Fork(PurposeOf(kept_.engine))) {}

// An id that no job of any project has: all projects share one number.
std::string VertexJobs::NewId(std::string_view collection) {
  const std::lock_guard lock(mutex_);
  std::string id = vertex::NewJobId(random_);
  for (int tries = 0; tries < kNewIdTriesMax; ++tries) {
    if (!kept_.engine.FindInAnyProject(StoredId(collection, id)).ok()) break;
    id = vertex::NewJobId(random_);
  }
  return id;
}

run::JobPlace VertexJobs::PlaceOf(const VertexParent& parent, std::string_view collection,
                                  std::string new_id) const {
  return {.location = parent.location,
          .new_id = std::move(new_id),
          .collection = std::string(collection),
          .api = std::string(vertex::kApiName)};
}

Result<run::Job> VertexJobs::Create(const VertexParent& parent, std::string_view collection,
                                    const Json& body) {
  return kept_.engine.Submit(parent.project, body, PlaceOf(parent, collection, NewId(collection)));
}

// Draws no number, so that later ids stay the same.
Status VertexJobs::Check(const VertexParent& parent, std::string_view collection, const Json& body,
                         const std::vector<std::string>& arriving) {
  const auto checked =
      kept_.engine.Check(parent.project, body, arriving, PlaceOf(parent, collection, "1"));
  return checked.ok() ? Status(Ok{}) : checked.error();
}

Result<run::Job> VertexJobs::Find(const VertexParent& parent, std::string_view collection,
                                  const std::string& id) const {
  const bool is_pipeline = collection == vertex::kTrainingPipelines;
  const Error missing =
      is_pipeline ? vertex::errors::PipelineNotFound() : vertex::errors::JobNotFound();
  if (!vertex::IsJobId(id)) return missing;
  const std::string job_id = StoredId(collection, id);
  const bool is_number = parent.project == options_.project_number;
  auto job =
      is_number ? kept_.engine.FindInAnyProject(job_id) : kept_.engine.Get(parent.project, job_id);
  if (!job.ok()) return job.error().code == Code::kNotFound ? missing : job.error();
  const bool fits =
      IsOfVertex(*job, parent) && (!is_pipeline || vertex::IsPipelineJob(job->document));
  if (!fits) return missing;
  return job;
}

Result<std::vector<run::Job>> VertexJobs::List(const VertexParent& parent, const std::string& after,
                                               size_t count) const {
  const bool is_number = parent.project == options_.project_number;
  engine::JobQuery query{.project = is_number ? "" : parent.project,
                         .limit = static_cast<int>(count),
                         .api = std::string(vertex::kApiName),
                         .location = parent.location};
  if (!ContinueAfter(after, query)) return vertex::errors::PageTokenBroken();
  return kept_.engine.List(query);
}

Status VertexJobs::Cancel(const VertexParent& parent, std::string_view collection,
                          const std::string& id) {
  ASSIGN_OR_RETURN(const run::Job job, Find(parent, collection, id));
  return kept_.engine.Cancel(job.key.project, job.key.job_id);
}

// On the service, a new job never gets the id of an earlier one.
Status VertexJobs::Remove(const VertexParent& parent, std::string_view collection,
                          const std::string& id) {
  ASSIGN_OR_RETURN(const run::Job job, Find(parent, collection, id));
  const Status removed =
      RemoveJob(kept_, job.key.project, job.key.job_id, engine::RemovedId::kTaken);
  if (removed.ok() || removed.error().code != Code::kFailedPrecondition) return removed;
  const std::string name =
      vertex::Text({options_.project_number, parent.location, std::string(collection), id});
  if (collection == vertex::kTrainingPipelines) {
    return vertex::errors::JobHasNotEnded("TrainingPipeline", name,
                                          vertex::PipelineStateName(job.state, options_.has_queue));
  }
  return vertex::errors::JobHasNotEnded("CustomJob", name,
                                        vertex::JobStateName(job.state, options_.has_queue));
}

vertex::RenderOptions VertexJobs::RenderingFor(const http::Request& request) const {
  return {.project_number = options_.project_number,
          .enum_numbers =
              AsksForEnumNumbers(request.Query("$alt")) || AsksForEnumNumbers(request.Query("alt")),
          .has_queue = options_.has_queue};
}

}  // namespace caip::api
