#pragma once
// The jobs of Vertex AI in the emulator, as requests name them.

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/random.h"
#include "base/result.h"
#include "emulator/api/control/job_removal.h"
#include "engine/engine.h"
#include "vertex/render.h"

namespace caip::api {

/// A project and a location of a request. The project is an id or the service's number, which all
/// projects have in common: it finds the jobs of any project, and creates them in one.
struct VertexParent {
  std::string project;
  std::string location;
};

/// Custom jobs, tuning jobs, and pipelines, each of which has a job of its own. The trials of a
/// tuning job are custom jobs as well. `collection` is vertex::kCustomJobs, kTuningJobs or
/// kTrainingPipelines. Any thread.
class VertexJobs {
 public:
  struct Options {
    std::string project_number;
    std::string own_project;  // the project of a new job whose request has the number
    bool has_queue = false;   // vertex::RenderOptions
    uint64_t seed = 0;        // of the ids of new jobs
  };
  /// `kept` has the engine. Its parts outlive this object.
  VertexJobs(KeptOfJobs kept, Options options);

  /// kInvalidArgument with all violations of the rules of the resource.
  Result<run::Job> Create(const VertexParent& parent, std::string_view collection,
                          const Json& body);
  /// Checks what Create checks, and creates nothing. Packages in `arriving` are not looked for.
  Status Check(const VertexParent& parent, std::string_view collection, const Json& body,
               const std::vector<std::string>& arriving);
  /// The job that is, or that works for, the resource with that id; of a trial, the job that
  /// vertex::TrialAsJob makes. kNotFound: there is none.
  Result<run::Job> Find(const VertexParent& parent, std::string_view collection,
                        const std::string& id) const;
  /// All custom jobs, newest first, after the place `after` (paging.h).
  Result<std::vector<run::Job>> List(const VertexParent& parent, const std::string& after,
                                     size_t count) const;
  /// The same, and before each tuning job its trials as custom jobs, the newest first. At least one
  /// job if any is left, and `count` at most if it is above 0.
  Result<std::vector<run::Job>> ListWithTrials(const VertexParent& parent, const std::string& after,
                                               size_t count) const;
  /// Does nothing if the job has ended.
  Status Cancel(const VertexParent& parent, std::string_view collection, const std::string& id);
  /// kFailedPrecondition: the job has not ended.
  Status Remove(const VertexParent& parent, std::string_view collection, const std::string& id);

  /// How a request wants its jobs rendered: with names or numbers of enums.
  vertex::RenderOptions RenderingFor(const http::Request& request) const;
  const std::string& project_number() const { return options_.project_number; }

 private:
  std::string ProjectOfNew(const VertexParent& parent) const;
  run::JobPlace PlaceOf(const VertexParent& parent, std::string_view collection,
                        std::string new_id) const;
  std::string NewId(std::string_view collection);
  bool IsTaken(const std::string& id) const;
  Result<run::Job> FindStored(const VertexParent& parent, const std::string& job_id) const;
  Result<run::Job> FindTrial(const VertexParent& parent, const std::string& id) const;
  Result<run::Job> FindPipelineJob(const VertexParent& parent, const std::string& id) const;
  std::string NameIn(const VertexParent& parent, std::string_view collection,
                     const std::string& id) const;
  Error TrialNotItsOwn(const VertexParent& parent, const std::string& id) const;

  KeptOfJobs kept_;
  Options options_;
  std::mutex mutex_;
  Random random_;
};

}  // namespace caip::api
