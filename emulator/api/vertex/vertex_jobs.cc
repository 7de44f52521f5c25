#include "emulator/api/vertex/vertex_jobs.h"

#include <iterator>
#include <utility>

#include "emulator/api/paging.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/training_pipeline.h"
#include "vertex/trials.h"

namespace caip::api {
namespace {

constexpr int kNewIdTriesMax = 100;

// Differs after each start of an emulator, so that one with a fixed seed does not give ids again.
std::string PurposeOf(const engine::Engine& engine) {
  const auto created = engine.CountCreated();
  return "vertex ids after " + std::to_string(created.ok() ? *created : 0) + " jobs";
}

// An id of the right form. Nothing is created under it.
std::string IdForChecks(std::string_view collection) {
  return collection == vertex::kTuningJobs ? "9000000000000000000" : "1";
}

std::string_view NameOfKind(std::string_view collection) {
  if (collection == vertex::kTrainingPipelines) return "TrainingPipeline";
  return collection == vertex::kTuningJobs ? "HyperparameterTuningJob" : "CustomJob";
}

// The value of `$alt` or `alt` that asks for numbers of enums. A client leaves the second equals
// sign as it is.
bool AsksForEnumNumbers(std::string_view alt) { return alt == "json;enum-encoding=int"; }

bool IsOfVertex(const run::Job& job, const VertexParent& parent) {
  return job.api == vertex::kApiName && job.key.location == parent.location;
}

Error MissingIn(std::string_view collection) {
  if (collection == vertex::kTrainingPipelines) return vertex::errors::PipelineNotFound();
  return collection == vertex::kTuningJobs ? vertex::errors::TuningJobNotFound()
                                           : vertex::errors::JobNotFound();
}

bool IsIn(std::string_view collection, const run::Document& document) {
  if (collection == vertex::kTrainingPipelines) return vertex::IsPipelineJob(document);
  return vertex::IsTuningJob(document) == (collection == vertex::kTuningJobs);
}

bool IsTrial(std::string_view collection, const std::string& id) {
  return collection == vertex::kCustomJobs && vertex::ParseTrialJobId(id).has_value();
}

// Adds the job. Before a tuning job come its trials, those after the trial `after` or all.
Status AddWithTrials(run::Job job, const std::string& after, std::vector<run::Job>& listed) {
  if (vertex::IsTuningJob(job.document)) {
    ASSIGN_OR_RETURN(std::vector<run::Job> trials, vertex::TrialsAsJobs(job));
    auto first = trials.begin();
    if (!after.empty()) {  // all ids of trials of a job have the same length
      while (first != trials.end() && first->key.job_id >= after) ++first;
    }
    listed.insert(listed.end(), std::make_move_iterator(first),
                  std::make_move_iterator(trials.end()));
  }
  listed.push_back(std::move(job));
  return Ok{};
}

}  // namespace

VertexJobs::VertexJobs(KeptOfJobs kept, Options options)
    : kept_(std::move(kept)),
      options_(std::move(options)),
      random_(Random(options_.seed).Fork(PurposeOf(kept_.engine))) {}

// An id that no job of any project has: all projects share one number.
std::string VertexJobs::NewId(std::string_view collection) {
  const std::lock_guard lock(mutex_);
  const auto make = [&] {
    return collection == vertex::kTuningJobs ? vertex::NewTuningJobId(random_)
                                             : vertex::NewJobId(random_);
  };
  std::string id = make();
  for (int tries = 0; tries < kNewIdTriesMax && IsTaken(id); ++tries) id = make();
  return id;
}

// As a job, or as a pipeline, which has a job under another id.
bool VertexJobs::IsTaken(const std::string& id) const {
  for (const std::string& stored : {id, vertex::BackingJobId(id), vertex::BackingTuningJobId(id)}) {
    if (kept_.engine.FindInAnyProject(stored).ok()) return true;
  }
  return false;
}

std::string VertexJobs::ProjectOfNew(const VertexParent& parent) const {
  return parent.project == options_.project_number ? options_.own_project : parent.project;
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
  ASSIGN_OR_RETURN(run::Job job,
                   kept_.engine.Submit(ProjectOfNew(parent), body,
                                       PlaceOf(parent, collection, NewId(collection))));
  job.queue_position = 0;  // the answer does not wait for the scheduler
  return job;
}

// Draws no number, so that later ids stay the same.
Status VertexJobs::Check(const VertexParent& parent, std::string_view collection, const Json& body,
                         const std::vector<std::string>& arriving) {
  const auto checked = kept_.engine.Check(ProjectOfNew(parent), body, arriving,
                                          PlaceOf(parent, collection, IdForChecks(collection)));
  return checked.ok() ? Status(Ok{}) : checked.error();
}

Result<run::Job> VertexJobs::Find(const VertexParent& parent, std::string_view collection,
                                  const std::string& id) const {
  const Error missing = MissingIn(collection);
  if (!vertex::IsJobId(id)) return missing;
  const auto find = collection == vertex::kTrainingPipelines ? &VertexJobs::FindPipelineJob
                    : IsTrial(collection, id)                ? &VertexJobs::FindTrial
                                                             : &VertexJobs::FindStored;
  auto job = (this->*find)(parent, id);
  if (!job.ok()) return job.error().code == Code::kNotFound ? missing : job.error();
  if (!IsIn(collection, job->document)) return missing;
  return job;
}

Result<run::Job> VertexJobs::FindStored(const VertexParent& parent,
                                        const std::string& job_id) const {
  const bool is_number = parent.project == options_.project_number;
  auto job =
      is_number ? kept_.engine.FindInAnyProject(job_id) : kept_.engine.Get(parent.project, job_id);
  if (job.ok() && !IsOfVertex(*job, parent)) return vertex::errors::JobNotFound();
  return job;
}

Result<run::Job> VertexJobs::FindTrial(const VertexParent& parent, const std::string& id) const {
  ASSIGN_OR_RETURN(const run::Job tuning_job,
                   FindStored(parent, vertex::ParseTrialJobId(id)->tuning_job_id));
  if (!vertex::IsTuningJob(tuning_job.document)) return vertex::errors::JobNotFound();
  ASSIGN_OR_RETURN(const std::vector<run::Job> trials, vertex::TrialsAsJobs(tuning_job));
  for (const run::Job& trial : trials) {
    if (trial.key.job_id == id) return trial;
  }
  return vertex::errors::JobNotFound();
}

Result<run::Job> VertexJobs::FindPipelineJob(const VertexParent& parent,
                                             const std::string& id) const {
  auto job = FindStored(parent, vertex::BackingJobId(id));
  const bool missing = !job.ok() && job.error().code == Code::kNotFound;
  return missing ? FindStored(parent, vertex::BackingTuningJobId(id)) : job;
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

Result<std::vector<run::Job>> VertexJobs::ListWithTrials(const VertexParent& parent,
                                                         const std::string& after,
                                                         size_t count) const {
  std::vector<run::Job> listed;
  std::string job_after = after;
  const size_t slash = after.find('/');
  const std::string id = slash == std::string::npos ? "" : after.substr(slash + 1);
  if (const auto trial = vertex::ParseTrialJobId(id)) {
    auto job = FindStored(parent, trial->tuning_job_id);
    if (!job.ok() && job.error().code != Code::kNotFound) return job.error();
    job_after = job.ok() ? PlaceInList(*job) : after.substr(0, slash + 1) + trial->tuning_job_id;
    if (job.ok()) RETURN_IF_ERROR(AddWithTrials(*std::move(job), id, listed));
  }
  ASSIGN_OR_RETURN(std::vector<run::Job> jobs, List(parent, job_after, count));
  for (run::Job& job : jobs) RETURN_IF_ERROR(AddWithTrials(std::move(job), "", listed));
  if (count > 0 && listed.size() > count) listed.resize(count);
  return listed;
}

std::string VertexJobs::NameIn(const VertexParent& parent, std::string_view collection,
                               const std::string& id) const {
  return vertex::Text({options_.project_number, parent.location, std::string(collection), id});
}

Error VertexJobs::TrialNotItsOwn(const VertexParent& parent, const std::string& id) const {
  return vertex::errors::TrialNotItsOwn(
      NameIn(parent, vertex::kCustomJobs, id),
      NameIn(parent, vertex::kTuningJobs, vertex::ParseTrialJobId(id)->tuning_job_id));
}

Status VertexJobs::Cancel(const VertexParent& parent, std::string_view collection,
                          const std::string& id) {
  ASSIGN_OR_RETURN(const run::Job job, Find(parent, collection, id));
  if (run::IsTerminal(job.state)) return Ok{};
  if (IsTrial(collection, id)) return TrialNotItsOwn(parent, id);
  return kept_.engine.Cancel(job.key.project, job.key.job_id);
}

// On the service, a new job never gets the id of an earlier one.
Status VertexJobs::Remove(const VertexParent& parent, std::string_view collection,
                          const std::string& id) {
  ASSIGN_OR_RETURN(const run::Job job, Find(parent, collection, id));
  if (IsTrial(collection, id)) return TrialNotItsOwn(parent, id);
  const Status removed =
      RemoveJob(kept_, job.key.project, job.key.job_id, engine::RemovedId::kTaken);
  if (removed.ok() || removed.error().code != Code::kFailedPrecondition) return removed;
  const bool is_pipeline = collection == vertex::kTrainingPipelines;
  const bool shows_queue = vertex::ShowsQueue(job, options_.has_queue);
  const std::string state = is_pipeline ? vertex::PipelineStateName(job.state, shows_queue)
                                        : std::string(vertex::JobStateName(job.state, shows_queue));
  return vertex::errors::JobHasNotEnded(NameOfKind(collection), NameIn(parent, collection, id),
                                        state);
}

vertex::RenderOptions VertexJobs::RenderingFor(const http::Request& request) const {
  return {.project_number = options_.project_number,
          .enum_numbers =
              AsksForEnumNumbers(request.Query("$alt")) || AsksForEnumNumbers(request.Query("alt")),
          .has_queue = options_.has_queue};
}

}  // namespace caip::api
