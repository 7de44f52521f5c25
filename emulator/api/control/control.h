#pragma once
// caip's own API below /emulator/v1: health, shutdown, checking and following a job.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "fakes/logging/book/log_book.h"
#include "http/router.h"

namespace caip::api {

/// The facts about this emulator that `health` and `token` return.
struct EmulatorIdentity {
  std::string version;
  std::string state_directory;
  uint64_t seed = 0;
  std::vector<std::string> flags;  // of the command that started it
  std::string active_environment;  // of the process that started it (interpreter_scan.h)
  std::string token;               // for clients that the kernel does not know
};

/// Lets requests wait for the next change of a job: a new log entry, or a new state. Subscribes to
/// the engine; engine and book outlive it.
class JobFollower {
 public:
  JobFollower(engine::Engine& engine, logging::LogBook& book);

  /// GET /emulator/v1/projects/{project}/jobs/{job}:follow?after=ID&state=S&waitMs=N&task=T.
  /// Answers with the entries after `after` as soon as there are any, or as soon as the state is no
  /// longer S: {entries[{insertId, timestamp, severity, task, trial, message}], last, state,
  /// createTime, now, finished, ending}. `finished`: the job has ended, and this was the rest of
  /// its log. `ending`: the emulator ends, and the next one continues the job.
  Result<Json> Follow(const http::Request& request, const std::string& project,
                      const std::string& job_id) const;

  /// Makes all requests answer at once, now and later, and say that the emulator ends. Any thread.
  void End();

 private:
  using JobKey = std::pair<std::string, std::string>;  // project and job id
  // A job that requests follow.
  struct Followed {
    int requests = 0;
    std::atomic<uint64_t> saves{0};      // since the first request came
    std::optional<run::Job> saved = {};  // as the last of them has it
  };
  class Following;
  void Saved(const run::Job& job);
  // Makes the answer; nullopt: there is nothing new, and the request may wait.
  Result<std::optional<Json>> TryAnswer(const http::Request& request, const run::Job& job,
                                        uint64_t after, bool may_have_entries,
                                        bool must_answer) const;

  engine::Engine& engine_;
  logging::LogBook& book_;
  mutable std::mutex mutex_;
  mutable std::map<JobKey, Followed> followed_;  // guarded by mutex_
  std::atomic<bool> ending_{false};
  engine::Subscription subscription_;
};

/// A replica that runs, and its processes on this host.
struct RunningReplica {
  std::string task;   // "worker-replica-0"
  std::string trial;  // "" outside tuning
  int boot = 1;
  int init = 0;    // the process that is the ancestor of its processes
  int leader = 0;  // its main process, in the PID namespace of `init`
  bool is_machine = false;
  std::string directory;
  std::string marker;  // the value of CAIP_REPLICA in its environment
};
using FindRunning = std::function<std::vector<RunningReplica>(const std::string& project,
                                                              const std::string& job_id)>;

/// GET /emulator/v1/projects/{project}/jobs/{job}/replicas ->
///   {"state": "RUNNING", "replicas": [{"task": "worker-replica-0", "trial": "", "boot": 1,
///    "init": 421, "leader": 2, "machine": true, "directory": "/user_dir", "marker": "..."}]}
std::vector<http::Route> ReplicaRoutes(engine::Engine& engine, FindRunning find);

/// The actions on the emulator's process that clients can request.
struct ControlActions {
  std::function<void()> shut_down;  // a client requests the shutdown
  /// Lets no process join any more, if the emulator may end: a command started it, no job is
  /// unfinished, and no process that joined exists. Error: the emulator goes on.
  std::function<Status()> close_if_unused;
  /// A process uses the emulator from now on; `stays`: the emulator must also serve after the end
  /// of the process. Error: the emulator is ending.
  std::function<Status(int pid, bool stays)> join;
};

/// `jobs:check` returns the errors that create would return, and creates nothing. It does not look
/// for packages that the request lists as arriving. An emulator that is ending answers POST
/// /emulator/v1:join?pid=N&stays=true|false with 503. `join` and `shutdown` take owner=N, the
/// process for which they are meant; `shutdown` with ifUnused=true ends only an emulator that
/// nothing uses.
std::vector<http::Route> ControlRoutes(const EmulatorIdentity& identity, engine::Engine& engine,
                                       JobFollower& follower, ControlActions actions);

/// GET /emulator/v1/projects/{project}/jobs/{job}/trials ->
///   {"job": Job with times of nanoseconds, "metric": tag, "now": time,
///    "measurements": {"1": [{"step": 10, "value": 0.9, "time": 1574000000.12}]}}
/// Values that are not JSON numbers are "NaN", "Infinity" and "-Infinity".
std::vector<http::Route> StudyRoutes(engine::Engine& engine, const Clock& clock);

}  // namespace caip::api
