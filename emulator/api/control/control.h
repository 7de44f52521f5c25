#pragma once
// Our own API below /emulator/v1: health, shutdown, checking and following a job.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "fakes/logging/book/log_book.h"
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
  /// finished, ending}. `finished`: the job is over, and this was the rest of its log. `ending`:
  /// the emulator ends, and the job goes on with the next.
  Result<Json> Follow(const http::Request& request, const std::string& project,
                      const std::string& job_id) const;

  /// All answers come at once from now on, and say that the emulator ends. Any thread.
  void End();

 private:
  engine::Engine& engine_;
  logging::LogBook& book_;
  std::atomic<uint64_t> saves_{0};
  std::atomic<bool> ending_{false};
  engine::Subscription subscription_;
};

/// What clients can ask of the emulator as a process.
struct ControlActions {
  std::function<void()> shut_down;  // a client asks for the end
  /// A command relies on the emulator from now on: its process, and whether it is to be served
  /// beyond that one's end. Error: it ends already.
  std::function<Status(int pid, bool stays)> join;
};

/// `jobs:check` says what create would say of a job, and creates nothing; packages it names as
/// arriving are not looked for. POST /emulator/v1:join?pid=N&stays=true|false is answered with 503
/// by an emulator that ends.
std::vector<http::Route> ControlRoutes(const EmulatorIdentity& identity, engine::Engine& engine,
                                       JobFollower& follower, ControlActions actions);

}  // namespace caip::api
