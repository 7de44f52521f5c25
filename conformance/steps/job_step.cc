#include <algorithm>
#include <chrono>
#include <set>

#include "conformance/format/received_json.h"
#include "conformance/problems.h"
#include "conformance/steps/steps.h"
#include "conformance/wire/pause.h"

namespace conform {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

const std::set<std::string> kEnds = {"SUCCEEDED", "FAILED", "CANCELLED"};
constexpr const char* kProbeResultMark = "CAIP-PROBE ";

std::set<std::string> Wanted(const Json& wanted) {
  if (wanted == "ended") return kEnds;
  if (wanted.is_string()) return {wanted.get<std::string>()};
  return wanted.get<std::set<std::string>>();
}

// "RUNNING" of JOB_STATE_RUNNING and PIPELINE_STATE_RUNNING.
std::string BareState(const std::string& state) {
  const std::string mark = "_STATE_";
  const size_t at = state.find(mark);
  return at == std::string::npos ? state : state.substr(at + mark.size());
}

// Waits until the job is in one of the states, or has ended in another.
Result<Json> JobIn(Scope& scope, const std::string& project, const std::string& id,
                   const std::set<std::string>& wanted) {
  const auto deadline = Clock::now() + scope.world().job_patience;
  std::string state;
  for (milliseconds wait{5}; Clock::now() < deadline && !Interrupted();
       wait = std::min(wait * 3 / 2, milliseconds(500))) {
    const std::string path = JobPath(project, id);
    Result<Json> seen = scope.Send(scope.ServiceFor(path), {"GET", path, {}, ""});
    if (!seen.ok()) return seen;
    if (seen.value()["status"] != 200 || !seen.value().contains("body")) {
      return problems::JobNotReadable(id, seen.value()["status"].get<int>());
    }
    const Json& job = seen.value()["body"];
    state = BareState(job.value("state", ""));
    if (kEnds.contains(state)) scope.NoteEnded(project, id);
    if (wanted.contains(state) || kEnds.contains(state)) return job;
    Pause(wait);
  }
  return problems::JobTimeout(id, state, *wanted.begin(), scope.world().job_patience.count());
}

Json MessageOf(const Json& entry) {
  if (entry.contains("jsonPayload")) return entry["jsonPayload"].value("message", Json());
  return entry.value("textPayload", Json());
}

std::string TaskOf(const Json& entry) {
  return entry.value("/resource/labels/task_name"_json_pointer, "");
}

// All entries of a job, oldest first.
Result<Json> EntriesOf(Scope& scope, const std::string& project, const std::string& id) {
  Json body = {{"resourceNames", {"projects/" + project}},
               {"filter", "resource.type=\"ml_job\" AND resource.labels.job_id=\"" + id + "\""},
               {"orderBy", "timestamp asc"},
               {"pageSize", 1000}};
  Json entries = Json::array();
  for (int page = 0; page < 100; ++page) {
    const Result<Json> seen = scope.Send(
        "logging",
        {"POST", "/v2/entries:list", {{"Content-Type", "application/json"}}, body.dump()});
    if (!seen.ok()) return seen;
    if (seen.value()["status"] != 200 || !seen.value().contains("body")) {
      return problems::LogsNotReadable(seen.value()["status"].get<int>());
    }
    const Json& answer = seen.value()["body"];
    for (const Json& entry : answer.value("entries", Json::array())) entries.push_back(entry);
    const std::string next = answer.value("nextPageToken", "");
    if (next.empty()) break;
    body["pageToken"] = next;
  }
  return entries;
}

Json LinesIn(const Json& entries) {
  Json lines = Json::object();
  for (const Json& entry : entries) lines[TaskOf(entry)].push_back(MessageOf(entry));
  return lines;
}

Result<Json> Seen(Scope& scope, const std::string& project, const Json& job, bool logs) {
  Json seen = {{"state", job.value("state", "")}, {"body", job}};
  if (!logs) return seen;
  const std::string name = job.value("name", "");
  const std::string id = job.value("jobId", name.substr(name.rfind('/') + 1));
  Result<Json> entries = EntriesOf(scope, project, id);
  if (!entries.ok()) return entries;
  seen["replicas"] = ReplicasIn(entries.value());
  seen["lines"] = LinesIn(entries.value());
  seen["logs"] = std::move(entries).value();
  return seen;
}

Result<Look> AwaitJob(Scope& scope, const std::string& project, const std::string& id,
                      const std::set<std::string>& wanted, bool logs) {
  const Result<Json> job = JobIn(scope, project, id, wanted);
  if (!job.ok()) return job.problem();
  if (!wanted.contains(BareState(job.value().value("state", "")))) {
    const std::string message = job.value().value("/error/message"_json_pointer, "");
    return problems::JobEndedOtherwise(id, job.value().value("state", ""), *wanted.begin(),
                                       job.value().value("errorMessage", message));
  }
  const Json found = job.value();
  return Look([&scope, project, found, logs] { return Seen(scope, project, found, logs); });
}

}  // namespace

Json ReplicasIn(const Json& logs) {
  Json replicas = Json::object();
  for (const Json& entry : logs) {
    const Json message = MessageOf(entry);
    if (!message.is_string()) continue;
    const std::string text = message;
    if (!text.starts_with(kProbeResultMark)) continue;
    Json record = ParseReceived(text.substr(std::string(kProbeResultMark).size()));
    if (record.is_object()) replicas[TaskOf(entry)].push_back(std::move(record));
  }
  return replicas;
}

Result<Look> Await(Scope& scope, const Json& step) {
  const std::string project = scope.world().setting("project");
  return AwaitJob(scope, project, step["job"], Wanted(step["await"]), step.value("logs", false));
}

Result<Look> RunJob(Scope& scope, const Json& step) {
  Json create = step;
  create["create"] = step["run"];
  create.erase("run");
  const Result<Json> made = Create(scope, create);
  if (!made.ok()) return made.problem();
  if (made.value()["status"] != 200) {
    return problems::JobRefused(made.value()["status"].get<int>(), made.value()["text"]);
  }
  const Json& body = made.value()["body"];
  const std::string id = body.value("jobId", body.value("name", ""));
  return AwaitJob(scope, scope.world().setting("project"), id, kEnds, true);
}

}  // namespace conform
