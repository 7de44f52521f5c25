#include "emulator/api/control/control.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/ml/ml_routes.h"
#include "engine/study.h"
#include "ml/environment.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"

namespace caip::api {
namespace {

using std::chrono::milliseconds;

constexpr long long kWaitMax = 60'000;
constexpr size_t kEntriesMax = 2000;
constexpr size_t kCheckBytesMax = 16u << 20;

milliseconds WaitOf(const http::Request& request) {
  const Json text(std::string(request.Query("waitMs")));
  const long long asked = IntOr(Json{{"waitMs", text}}, "waitMs", 0);
  return milliseconds(std::clamp<long long>(asked, 0, kWaitMax));
}

Json EntryJson(const logging::Entry& entry) {
  Json json = {{"insertId", logging::InsertIdText(entry.insert_id)},
               {"timestamp", Rfc3339(entry.timestamp, 9)},
               {"severity", entry.severity},
               {"task", entry.task},
               {"message", entry.message}};
  if (!entry.trial.empty()) json["trial"] = entry.trial;
  if (entry.form == logging::Entry::Form::kObject) json["isObject"] = true;
  return json;
}

Json Answer(const run::Job& job, const std::vector<logging::Entry>& entries, uint64_t after,
            std::string_view task, bool finished, bool ending) {
  Json list = Json::array();
  for (const logging::Entry& entry : entries) {
    if (task.empty() || task == entry.task) list.push_back(EntryJson(entry));
  }
  Json answer = {
      {"entries", std::move(list)},
      {"last", logging::InsertIdText(entries.empty() ? after : entries.back().insert_id)},
      {"state", run::Name(job.state)},
      {"finished", finished},
      {"ending", ending}};
  if (job.create_time) answer["createTime"] = Rfc3339(*job.create_time, 9);
  // The time at which the present state began, if the job has it.
  if (const auto& since = job.end_time ? job.end_time : job.start_time) {
    answer["now"] = Rfc3339(*since, 9);
  }
  return answer;
}

}  // namespace

JobFollower::JobFollower(engine::Engine& engine, logging::LogBook& book)
    : engine_(engine),
      book_(book),
      subscription_(engine.Watch([this](const run::Job& job) { Saved(job); })) {}

// What a request knows of the job that it follows. After the first reading, the engine tells it: a
// job is saved several times while it starts.
class JobFollower::Following {
 public:
  Following(const JobFollower& follower, JobKey job) : follower_(follower), job_(std::move(job)) {
    const std::lock_guard lock(follower_.mutex_);
    entry_ = &follower_.followed_[job_];
    ++entry_->requests;
    seen_ = entry_->saves;
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following() {
    const std::lock_guard lock(follower_.mutex_);
    if (--entry_->requests == 0) follower_.followed_.erase(job_);
  }

  bool HasChanged() const { return entry_->saves != seen_; }
  /// Replaces `job` if a newer one has been saved.
  void Update(run::Job& job) {
    const std::lock_guard lock(follower_.mutex_);
    if (!HasChanged()) return;
    seen_ = entry_->saves;
    job = *entry_->saved;
  }

 private:
  const JobFollower& follower_;
  const JobKey job_;
  Followed* entry_ = nullptr;
  uint64_t seen_ = 0;
};

// On the engine's thread.
void JobFollower::Saved(const run::Job& job) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = followed_.find({job.key.project, job.key.job_id});
    if (found == followed_.end()) return;
    found->second.saved = job;
    ++found->second.saves;
  }
  book_.WakeFollowers();
}

Result<Json> JobFollower::Follow(const http::Request& request, const std::string& project,
                                 const std::string& job_id) const {
  const auto deadline = MonotonicNow() + WaitOf(request);
  const uint64_t after = logging::ParseInsertId(std::string(request.Query("after")));
  Following following(*this, {project, job_id});
  ASSIGN_OR_RETURN(run::Job job, engine_.Get(project, job_id));
  bool may_have_entries = true;
  while (true) {
    const bool ending = ending_;
    const auto left = std::chrono::ceil<milliseconds>(deadline - MonotonicNow());
    ASSIGN_OR_RETURN(const auto answer,
                     TryAnswer(request, job, after, may_have_entries, left.count() <= 0));
    if (answer) return *answer;
    may_have_entries = book_.WaitForMore(
        project, job_id, after, left, [&] { return following.HasChanged() || ending_ != ending; });
    following.Update(job);
  }
}

Result<std::optional<Json>> JobFollower::TryAnswer(const http::Request& request,
                                                   const run::Job& job, uint64_t after,
                                                   bool may_have_entries, bool must_answer) const {
  const bool over = job.end_time.has_value();
  const bool ending = ending_;
  const bool changed = request.Query("state") != run::Name(job.state);
  const bool must = over || changed || ending || must_answer;
  if (!must && !may_have_entries) return std::optional<Json>();
  if (over) RETURN_IF_ERROR(book_.Flush());  // makes the last entries visible
  logging::EntryQuery query;
  query.project = job.key.project;
  query.job_id = job.key.job_id;
  query.after_id = after;
  query.limit = kEntriesMax;
  ASSIGN_OR_RETURN(const std::vector<logging::Entry> entries, book_.Query(query));
  if (!must && entries.empty()) return std::optional<Json>();
  return std::optional<Json>(Answer(job, entries, after, request.Query("task"),
                                    over && entries.size() < kEntriesMax, ending));
}

void JobFollower::End() {
  ending_ = true;
  book_.WakeFollowers();
}

namespace {

// POST /emulator/v1/projects/{project}/jobs:check {"job": Job, "arriving": [URI]}
Result<Json> CheckJob(engine::Engine& engine, const http::Request& request,
                      const std::string& project) {
  ASSIGN_OR_RETURN(const std::string text, request.ReadBody(kCheckBytesMax));
  ASSIGN_OR_RETURN(const Json body, ParseJson(text));
  const Json* job = Member(body, "job");
  std::vector<std::string> arriving;
  if (const Json* uris = Member(body, "arriving"); uris && uris->is_array()) {
    for (const Json& uri : *uris) {
      if (uri.is_string()) arriving.push_back(uri.get<std::string>());
    }
  }
  RETURN_IF_ERROR(engine.Check(project, job ? *job : Json::object(), arriving));
  return Json::object();
}

// A client that found the address in a state directory names the process that wrote it. Meanwhile
// the process may have ended, and another emulator may have its port.
Status CheckOwner(const http::Request& request) {
  const std::string_view owner = request.Query("owner");
  if (owner.empty() || owner == std::to_string(::getpid())) return Ok{};
  return errors::MeantForAnotherProcess(owner, ::getpid());
}

Result<Json> ShutDown(JobFollower& follower, const ControlActions& actions,
                      const http::Request& request) {
  RETURN_IF_ERROR(CheckOwner(request));
  if (request.Query("ifUnused") == "true") RETURN_IF_ERROR(actions.close_if_unused());
  follower.End();
  actions.shut_down();
  return Json::object();
}

Result<Json> Join(const std::function<Status(int, bool)>& join, const http::Request& request) {
  RETURN_IF_ERROR(CheckOwner(request));
  const Json pid(std::string(request.Query("pid")));
  RETURN_IF_ERROR(join(static_cast<int>(IntOr(Json{{"pid", pid}}, "pid", 0)),
                       request.Query("stays") == "true"));
  return Json::object();
}

}  // namespace

std::vector<http::Route> ControlRoutes(const EmulatorIdentity& identity, engine::Engine& engine,
                                       JobFollower& follower, ControlActions actions) {
  return {
      {"GET", "/emulator/v1/health", "emulator.health",
       [identity](const http::Request& request, const http::PathParameters&) {
         return Respond(request, Json{{"version", identity.version},
                                      {"pid", ::getpid()},
                                      {"stateDirectory", identity.state_directory},
                                      {"seed", std::to_string(identity.seed)},
                                      {"flags", identity.flags},
                                      {"activeEnvironment", identity.active_environment}});
       }},
      {"GET", "/emulator/v1/token", "emulator.token.get",
       [token = identity.token](const http::Request& request, const http::PathParameters&) {
         http::Response response = Respond(request, Json{{"token", token}});
         response.headers.Set("Cache-Control", "no-store");
         return response;
       }},
      {"POST", "/emulator/v1:shutdown", "emulator.shutdown",
       [&follower, actions](const http::Request& request, const http::PathParameters&) {
         return Respond(request, ShutDown(follower, actions, request));
       }},
      {"POST", "/emulator/v1:join", "emulator.join",
       [join = std::move(actions.join)](const http::Request& request, const http::PathParameters&) {
         return Respond(request, Join(join, request));
       }},
      {"POST", "/emulator/v1/projects/{project}/jobs:check", "emulator.jobs.check",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, CheckJob(engine, request, at.At("project")));
       }},
      {"GET", "/emulator/v1/projects/{project}/jobs/{job}:follow", "emulator.jobs.follow",
       [&follower](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, follower.Follow(request, at.At("project"), at.At("job")));
       }},
  };
}

namespace {

Json RunningJson(const RunningReplica& replica) {
  return {{"task", replica.task},           {"trial", replica.trial},
          {"boot", replica.boot},           {"init", replica.init},
          {"leader", replica.leader},       {"machine", replica.is_machine},
          {"directory", replica.directory}, {"marker", replica.marker}};
}

Result<Json> RunningOf(engine::Engine& engine, const FindRunning& find, const std::string& project,
                       const std::string& job_id) {
  ASSIGN_OR_RETURN(const run::Job job, engine.Get(project, job_id));
  Json list = Json::array();
  for (const RunningReplica& replica : find(project, job_id)) list.push_back(RunningJson(replica));
  return Json{{"state", run::Name(job.state)}, {"replicas", std::move(list)}};
}

}  // namespace

std::vector<http::Route> ReplicaRoutes(engine::Engine& engine, FindRunning find) {
  return {{"GET", "/emulator/v1/projects/{project}/jobs/{job}/replicas", "emulator.replicas.list",
           [&engine, find = std::move(find)](const http::Request& request,
                                             const http::PathParameters& at) {
             return Respond(request, RunningOf(engine, find, at.At("project"), at.At("job")));
           }}};
}

namespace {

Json NumberJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json ReportsJson(const std::vector<engine::Report>& reports) {
  Json list = Json::array();
  for (const engine::Report& report : engine::ReportsThatCount(reports)) {
    list.push_back(Json{{"step", report.step},
                        {"value", NumberJson(report.value)},
                        {"time", NumberJson(report.time)}});
  }
  return list;
}

Result<Json> StudyOf(engine::Engine& engine, const Clock& clock, const std::string& project,
                     const std::string& job_id) {
  ASSIGN_OR_RETURN(const run::Job stored, FindMlJob(engine, project, job_id));
  ASSIGN_OR_RETURN(const std::vector<engine::TrialRecord> trials, engine.Trials(project, job_id));
  ASSIGN_OR_RETURN(const ml::Job job, ml::RenderJob(stored));
  Json measurements = Json::object();
  for (const engine::TrialRecord& trial : trials) {
    measurements[trial.job.key.trial] = ReportsJson(trial.reports);
  }
  Json answer = {{"job", ml::ToStoredJson(job)},
                 {"now", Rfc3339(clock.Now(), 9)},
                 {"measurements", std::move(measurements)}};
  if (job.training_input) answer["metric"] = ml::MetricTagOf(*job.training_input);
  return answer;
}

}  // namespace

std::vector<http::Route> StudyRoutes(engine::Engine& engine, const Clock& clock) {
  return {{"GET", "/emulator/v1/projects/{project}/jobs/{job}/trials", "emulator.trials.list",
           [&engine, &clock](const http::Request& request, const http::PathParameters& at) {
             return Respond(request, StudyOf(engine, clock, at.At("project"), at.At("job")));
           }}};
}

}  // namespace caip::api
