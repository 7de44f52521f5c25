#pragma once
// IAM of jobs: the stored policies, and the methods getIamPolicy, setIamPolicy and
// testIamPermissions. Every caller has every permission: the emulator stores and returns policies
// but does not enforce them.

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// Stores the policies of jobs on disk. Any thread.
class PolicyStore {
 public:
  /// Keeps one file for each policy in `directory`, which is made when the first policy is set.
  explicit PolicyStore(Path directory) : directory_(std::move(directory)) {}

  /// {"etag": "ACAB"} if no policy was ever set.
  Result<Json> Get(const std::string& project, const std::string& job_id) const;
  /// Replaces the policy by what `change` makes of the present one, which has no etag; calls at the
  /// same time wait. kAborted: the result has an etag that differs from the present one. The new
  /// policy has a new etag, and is durable when this returns.
  Result<Json> Change(const std::string& project, const std::string& job_id,
                      const std::function<Json(Json present)>& change);

  /// As if none had been set.
  Status Remove(const std::string& project, const std::string& job_id);

 private:
  Path FileOf(const std::string& project, const std::string& job_id) const;
  Result<Json> Read(const Path& file) const;

  Path directory_;
  mutable std::mutex mutex_;
};

/// Both parameters must outlive the routes.
std::vector<http::Route> IamRoutes(engine::Engine& engine, PolicyStore& policies);

}  // namespace caip::api
