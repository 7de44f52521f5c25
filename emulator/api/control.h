#pragma once
// Our own API below /emulator/v1: health, shutdown, checking and following a job.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "fakes/logging/log_book.h"
#include "http/router.h"

namespace caip::api {

/// Who this emulator is, for `health`.
struct EmulatorIdentity {
  std::string version;
  std::string state_directory;
  uint64_t seed = 0;
  std::vector<std::string> flags;  // it was started with these
};

/// Lets requests wait for the next change of a job: a new log entry, or a new state. Its making
/// subscribes to the engine; engine and book outlive it.
class JobFollower {
 public:
  JobFollower(engine::Engine& engine, logging::LogBook& book);

  /// GET /emulator/v1/projects/{project}/jobs/{job}:follow?after=ID&state=S&waitMs=N&task=T.
  /// Answers entries behind `after`, as soon as there are any or the state is not S any more:
  /// {entries[{insertId, timestamp, severity, task, trial, message}], last, state, createTime, now,
  /// finished}. `finished`: the job is over, and this was the rest of its log.
  Result<Json> Follow(const http::Request& request, const std::string& project,
                      const std::string& job_id) const;

 private:
  engine::Engine& engine_;
  logging::LogBook& book_;
  std::atomic<uint64_t> saves_{0};
  engine::Subscription subscription_;
};

/// `shut_down` is called once when a client asks for the end. `jobs:check` says what create would
/// say of a job, and creates nothing; packages it names as arriving are not looked for.
std::vector<http::Route> ControlRoutes(const EmulatorIdentity& identity, engine::Engine& engine,
                                       const JobFollower& follower,
                                       std::function<void()> shut_down);

}  // namespace caip::api
