#pragma once
// AI Platform Training v1 as the engine sees it: its side of the port.

#include <memory>
#include <string>

#include "ml/job.h"
#include "ml/training_job.h"
#include "ml/validate/validate.h"
#include "run/api_port.h"
#include "run/storage_probe.h"

namespace caip::ml {

struct TrainingApiOptions {
  ValidationOptions validation;  // which regions, machines and runtimes there are
  std::string service_account;   // named where it cannot read or write
  std::string project_number;    // of the links in errorMessage; "" the project's id
};

/// Any thread. `storage` outlives it.
class TrainingApi final : public run::ApiPort {
 public:
  TrainingApi(TrainingApiOptions options, run::StorageProbe& storage)
      : options_(std::move(options)), storage_(storage) {}

  Result<run::AcceptedJob> Accept(const run::JobRequest& request) const override;
  Status Probe(const run::AcceptedJob& job, const run::JobRequest& request,
               std::vector<FieldViolation> refused) const override;
  Result<std::shared_ptr<const run::ApiJob>> Open(const run::Document& document) const override;
  run::RunNames MakeNames(Random& random) const override;
  Error JobNotFound() const override;
  Error JobAlreadyExists() const override;

  /// A job that has passed Validate, or is to run without.
  run::AcceptedJob Take(const std::string& project, Job job) const;

 private:
  std::shared_ptr<const TrainingJob> Made(TrainingInput input) const;

  TrainingApiOptions options_;
  run::StorageProbe& storage_;
};

}  // namespace caip::ml
