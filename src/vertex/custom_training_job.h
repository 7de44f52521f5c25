#pragma once
// A custom job as the engine asks about it: names, texts and the environment of its replicas. A
// tuning job is one with a search in its run specification: each trial runs the custom job.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "run/api_port.h"
#include "vertex/custom_job.h"
#include "vertex/nfs_mounts.h"

namespace caip::vertex {

/// What a job sees of the service that runs it.
struct ServiceFacts {
  std::string project_number;   // of every project; "" the project's id
  std::string service_account;  // of jobs that name none
  NfsExports nfs_exports = {};
};

/// Immutable; any thread.
class CustomTrainingJob final : public run::ApiJob,
                                public std::enable_shared_from_this<CustomTrainingJob> {
 public:
  /// `job` has passed Validate.
  CustomTrainingJob(CustomJob job, run::RunSpec run_spec, ServiceFacts service);

  const CustomJobSpec& job_spec() const { return *job_.spec; }
  const ServiceFacts& service() const { return service_; }
  /// The number of the project of a run.
  std::string ProjectOf(const run::RunKey& key) const;

  std::unique_ptr<const run::ApiRun> Begin(run::RunFacts facts) const override;
  run::Document WithTrials(const run::Document& document,
                           const run::TrialsSummary& summary) const override;
  std::string TaskName(const run::ReplicaId& replica) const override;
  std::string ReplicaName(const run::ReplicaId& replica) const override;
  std::string HostName(const run::ReplicaId& replica, const run::RunNames& names) const override;
  std::vector<std::string> Lines(run::LoggedJobEvent event, const run::RunKey& key) const override;
  std::vector<std::string> ErrorLines(const std::string& message) const override;
  std::string ReplicaFailed(const run::ReplicaFailure& failure,
                            const run::RunKey& key) const override;
  std::string CouldNotStart(const run::ReplicaId& replica, std::string_view reason,
                            const run::RunKey& key) const override;
  std::string OutOfStock() const override;
  std::string WaitedTooLong() const override;
  std::string RanTooLong() const override;
  std::string TrialsFailed(const run::StudyProgress& progress, std::string_view trial,
                           std::string_view last) const override;

 private:
  CustomJob job_;
  ServiceFacts service_;
};

}  // namespace caip::vertex
