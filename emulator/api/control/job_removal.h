#pragma once
// caip's own API to remove jobs, which AI Platform Training does not have.

#include <functional>
#include <string>
#include <vector>

#include "emulator/api/ml/iam.h"
#include "engine/engine.h"
#include "fakes/logging/book/log_book.h"
#include "http/router.h"

namespace caip::api {

/// What is kept of jobs. All parts outlive the routes.
struct KeptOfJobs {
  engine::Engine& engine;
  logging::LogBook& book;
  PolicyStore& policies;
  std::function<void(const engine::RunKey& job)> remove_disks;  // those that were kept
};

/// Removes a job that has ended, with its trials, log, policy and kept disks. kFailedPrecondition:
/// it has not ended.
Status RemoveJob(const KeptOfJobs& kept, const std::string& project, const std::string& job_id,
                 engine::RemovedId id);

/// DELETE /emulator/v1/projects/{project}/jobs/{job} -> {}. Removes a job that has ended, with its
/// trials, log, policy and kept disks; its id is free then, unless ?keepsId=true. What it wrote to
/// buckets stays.
std::vector<http::Route> JobRemovalRoutes(KeptOfJobs kept);

}  // namespace caip::api
