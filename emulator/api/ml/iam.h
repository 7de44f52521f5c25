#pragma once
// IAM of jobs: the policies that were set, and the methods getIamPolicy, setIamPolicy and
// testIamPermissions. Every caller has every permission: a policy is stored and returned, not
// enforced.

#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// Any thread.
class PolicyStore {
 public:
  /// One file a policy below `directory`, which is made when the first one is set.
  explicit PolicyStore(Path directory) : directory_(std::move(directory)) {}

  /// {"etag": "ACAB"} where none was ever set.
  Result<Json> Get(const std::string& project, const std::string& job_id) const;
  /// Replaces it, with a new etag. kAborted where `policy` has an etag that is not the present
  /// one's. Durable when it returns.
  Result<Json> Set(const std::string& project, const std::string& job_id, Json policy);

 private:
  Path FileOf(const std::string& project, const std::string& job_id) const;
  Result<Json> Read(const Path& file) const;

  Path directory_;
  mutable std::mutex mutex_;
};

/// Both outlive the routes.
std::vector<http::Route> IamRoutes(engine::Engine& engine, PolicyStore& policies);

}  // namespace caip::api
