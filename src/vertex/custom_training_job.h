#pragma once
// A custom job as the engine asks about it: names, texts and the environment of its replicas.

#include <memory>
#include <string>

#include "run/api_port.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// Immutable; any thread.
class CustomTrainingJob final : public run::ApiJob,
                                public std::enable_shared_from_this<CustomTrainingJob> {
 public:
  /// What a job sees of the service that runs it.
  struct Service {
    std::string project_number;   // of every project
    std::string service_account;  // of jobs that name none
  };

  CustomTrainingJob(CustomJob job, run::RunSpec run_spec, Service service);

  const CustomJob& job() const { return job_; }
  const Service& service() const { return service_; }

  std::unique_ptr<const run::ApiRun> Begin(run::RunFacts facts) const override;
  std::string TaskName(const run::ReplicaId& replica) const override;
  std::string ReplicaName(const run::ReplicaId& replica) const override;
  std::string HostName(const run::ReplicaId& replica, const run::RunNames& names) const override;
  std::vector<std::string> Lines(run::LoggedJobEvent event, const run::RunKey& key) const override;
  std::string ReplicaFailed(const run::ReplicaFailure& failure,
                            const run::RunKey& key) const override;
  std::string CouldNotStart(const run::ReplicaId& replica, std::string_view reason,
                            const run::RunKey& key) const override;
  std::string OutOfStock() const override;
  std::string WaitedTooLong() const override;
  std::string RanTooLong() const override;

 private:
  CustomJob job_;
  Service service_;
};

}  // namespace caip::vertex
