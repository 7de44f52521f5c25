#pragma once
// Vertex AI custom training as the engine sees it: its side of the port.

#include <memory>
#include <string>
#include <string_view>

#include "run/api_port.h"
#include "run/storage_probe.h"
#include "vertex/custom_job.h"
#include "vertex/custom_training_job.h"
#include "vertex/validate/validate.h"

namespace caip::vertex {

/// The mark of this API's jobs in stores.
inline constexpr std::string_view kApiName = "vertex";

struct TrainingApiOptions {
  ValidationOptions validation = {};  // which machines, regions and mounts there are
  std::string service_account = {};   // of jobs that name none
  std::string project_number = {};    // of every project
};

/// Any thread. `storage` outlives it.
class TrainingApi final : public run::ApiPort {
 public:
  TrainingApi(TrainingApiOptions options, run::StorageProbe& storage)
      : options_(std::move(options)), storage_(storage) {}

  std::string_view name() const override { return kApiName; }
  /// Of the collections customJobs, hyperparameterTuningJobs and trainingPipelines. The request's
  /// `location` and `new_id` name the job: NewJobId makes the latter, NewTuningJobId that of a
  /// tuning job. The job of a pipeline has the id BackingJobId(new_id) or
  /// BackingTuningJobId(new_id).
  Result<run::AcceptedJob> Accept(const run::JobRequest& request) const override;
  Status Probe(const run::AcceptedJob& job, const run::JobRequest& request,
               std::vector<FieldViolation> refused) const override;
  Result<std::shared_ptr<const run::ApiJob>> Open(const run::Document& document) const override;
  run::RunNames MakeNames(Random& random) const override;
  Error JobNotFound() const override;
  Error JobAlreadyExists() const override;

 private:
  Result<run::AcceptedJob> AcceptCustomJob(const run::JobRequest& request) const;
  Result<run::AcceptedJob> AcceptTuningJob(const run::JobRequest& request) const;
  Result<run::AcceptedJob> AcceptPipeline(const run::JobRequest& request) const;

  TrainingApiOptions options_;
  run::StorageProbe& storage_;
};

}  // namespace caip::vertex
