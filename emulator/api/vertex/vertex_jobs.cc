#include "emulator/api/vertex/vertex_jobs.h"

#include <utility>

#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/training_pipeline.h"

namespace caip::api {
namespace {

constexpr int kNewIdTriesMax = 1'000'000;  // an emulator with a fixed seed makes its ids again

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
      random_(Random(options_.seed).Fork("vertex ids")) {}

// An id that no job of the project has.
std::string VertexJobs::NewId(const std::string& project) {
  const std::lock_guard lock(mutex_);
  std::string id = vertex::NewJobId(random_);
  for (int tries = 0; tries < kNewIdTriesMax && kept_.engine.Get(project, id).ok(); ++tries) {
    id = vertex::NewJobId(random_);
  }
  return id;
}

run::JobPlace VertexJobs::NewPlace(const VertexParent& parent, std::string_view collection) {
  return {.location = parent.location,
          .new_id = NewId(parent.project),
          .collection = std::string(collection),
          .api = std::string(vertex::kApiName)};
}

Result<run::Job> VertexJobs::Create(const VertexParent& parent, std::string_view collection,
                                    const Json& body) {
  return kept_.engine.Submit(parent.project, body, NewPlace(parent, collection));
}

Status VertexJobs::Check(const VertexParent& parent, std::string_view collection, const Json& body,
                         const std::vector<std::string>& arriving) {
  const auto checked =
      kept_.engine.Check(parent.project, body, arriving, NewPlace(parent, collection));
  return checked.ok() ? Status(Ok{}) : checked.error();
}

Result<run::Job> VertexJobs::Find(const VertexParent& parent, std::string_view collection,
                                  const std::string& id) const {
  const bool is_pipeline = collection == vertex::kTrainingPipelines;
  const Error missing =
      is_pipeline ? vertex::errors::PipelineNotFound() : vertex::errors::JobNotFound();
  if (!vertex::IsJobId(id)) return missing;
  const std::string job_id = is_pipeline ? vertex::BackingJobId(id) : id;
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
  return kept_.engine.List({.project = is_number ? "" : parent.project,
                            .limit = static_cast<int>(count),
                            .before_id = after,
                            .api = std::string(vertex::kApiName),
                            .location = parent.location});
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
  return vertex::errors::JobHasNotEnded(
      vertex::Text({options_.project_number, parent.location, std::string(collection), id}),
      vertex::JobStateName(job.state, options_.has_queue));
}

vertex::RenderOptions VertexJobs::RenderingFor(const http::Request& request) const {
  return {.project_number = options_.project_number,
          .enum_numbers =
              AsksForEnumNumbers(request.Query("$alt")) || AsksForEnumNumbers(request.Query("alt")),
          .has_queue = options_.has_queue};
}

}  // namespace caip::api
