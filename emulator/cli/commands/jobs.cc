// `caip jobs describe|list|cancel|update|stream-logs` (docs/service/submit.md, section 8).

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/commands/newest_jobs.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/job_summary.h"
#include "emulator/cli/print/missing_module.h"
#include "emulator/cli/print/own_paths.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

// gcloud prints these links to the console; users paste them. No link leads to this host.
std::string ConsoleLinks(const std::string& job, const std::string& project) {
  return "\nView job in the Cloud Console at:\nhttps://console.cloud.google.com/mlengine/jobs/" +
         job + "?project=" + project +
         "\n\nView logs at:\nhttps://console.cloud.google.com/logs?resource=ml_job%2Fjob_id%2F" +
         job + "&project=" + project + "\n\nThe log is here:\n  caip jobs logs " + job +
         " --project " + project + "\n";
}

// The project and the connection of a command.
struct JobCall {
  std::string project;
  std::unique_ptr<client::Connection> connection;
};

template <typename Command>
Result<JobCall> Begin(const Command& command, const Surroundings& world, app::Lifetime lifetime) {
  JobCall call;
  ASSIGN_OR_RETURN(call.project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(call.connection, world.connect(command.emulator, lifetime));
  return call;
}

http::ClientRequest JsonRequest(std::string method, std::string target, const Json& body) {
  http::ClientRequest request{.method = std::move(method), .target = std::move(target)};
  request.headers.Set("Content-Type", "application/json");
  request.body = CompactJson(body);
  return request;
}

Result<std::string> Description(const DescribeCommand& command, const Json& job) {
  if (command.summarize) return JobSummary(job);
  return FormatResource(job, command.gcloud.format.value_or("yaml"));
}

Status Describe(const DescribeCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const JobCall call, Begin(command, world, app::Lifetime::kBriefly));
  ASSIGN_OR_RETURN(
      Json job,
      client::CallService(*call.connection, {.target = client::JobsPath(call.project, command.job)},
                          call.project));
  const OwnPaths own_paths(app::StateDirectory(command.emulator));
  if (command.summarize && command.gcloud.format) {
    world.io.err("WARNING: --format is ignored when --summarize is present\n");
  }
  const Json* failure = Member(job, "errorMessage");
  if (failure && failure->is_string() && !command.gcloud.format) {
    job["errorMessage"] = own_paths.In(failure->get<std::string>());
  }
  ASSIGN_OR_RETURN(const std::string text, Description(command, job));
  world.io.out(text);
  // gcloud prints the links only for people. --format means that a program reads the output.
  if (!command.gcloud.format) {
    world.io.err(ConsoleLinks(command.job, call.project) + MissingModuleHint(job));
  }
  return Ok{};
}

Status Cancel(const CancelCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const JobCall call, Begin(command, world, app::Lifetime::kBriefly));
  const std::string target = client::JobsPath(call.project, command.job) + ":cancel";
  const auto answer = client::CallService(
      *call.connection, JsonRequest("POST", target, Json::object()), call.project);
  if (!answer.ok()) return answer.error();
  ASSIGN_OR_RETURN(const std::string text,
                   FormatResource(*answer, command.gcloud.format.value_or("none")));
  world.io.out(text);
  return Ok{};
}

// The new map of labels: the current labels, changed by the flags.
Json UpdatedLabels(const UpdateCommand& command, const Json& present) {
  Json labels = command.clear_labels || !present.is_object() ? Json::object() : present;
  if (command.remove_labels) {
    for (const std::string& key : *command.remove_labels) labels.erase(key);
  }
  if (command.update_labels) {
    for (const auto& [key, value] : *command.update_labels) labels[key] = value;
  }
  return labels;
}

bool SameLabels(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    if (StringOr(b, key, "\n") != value.get<std::string>()) return false;
  }
  return true;
}

Status Update(const UpdateCommand& command, const Surroundings& world) {
  if (!command.update_labels && !command.remove_labels && !command.clear_labels) {
    return errors::NoUpdatesRequested();
  }
  ASSIGN_OR_RETURN(const JobCall call, Begin(command, world, app::Lifetime::kBriefly));
  const std::string path = client::JobsPath(call.project, command.job);
  ASSIGN_OR_RETURN(const Json job,
                   client::CallService(*call.connection, {.target = path}, call.project));
  const Json* member = Member(job, "labels");
  const Json present = member ? *member : Json::object();
  const Json labels = UpdatedLabels(command, present);
  if (SameLabels(present, labels)) {
    world.io.err(errors::NoUpdateToPerform());
    return Ok{};
  }
  ASSIGN_OR_RETURN(
      const Json updated,
      client::CallService(*call.connection,
                          JsonRequest("PATCH", path + "?updateMask=labels", {{"labels", labels}}),
                          call.project));
  world.io.err(errors::Updated(command.job));
  ASSIGN_OR_RETURN(const std::string text,
                   FormatResource(updated, command.gcloud.format.value_or("none")));
  world.io.out(text);
  return Ok{};
}

Status StreamLogs(const StreamLogsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const JobCall call, Begin(command, world, app::Lifetime::kBriefly));
  // The log is the result of this command; for a submit it is only a message.
  Io as_result = world.io;
  as_result.err = world.io.out;
  as_result.err_is_terminal = world.io.out_is_terminal;
  const FollowOutcome outcome =
      world.follow(*call.connection,
                   {call.project, command.job, command.task_name.value_or(""),
                    command.allow_multiline_logs, OwnPaths(app::StateDirectory(command.emulator))},
                   as_result);
  if (outcome.end == FollowOutcome::End::kFailed) return errors::StreamFailed(outcome.failure);
  if (outcome.end == FollowOutcome::End::kInterrupted) {
    world.io.err(errors::Interrupted(outcome.signal));
  }
  if (outcome.end == FollowOutcome::End::kStopped) {
    return errors::StreamStopped(command.job);
  }
  return Ok{};
}

int ExitCodeOf(const Status& status, const Io& io, std::string_view command) {
  return status.ok() ? static_cast<int>(kExitSuccess)
                     : Fail(io, "jobs." + std::string(command), status.error());
}

std::string Uris(const std::vector<Json>& jobs, const std::string& base,
                 const std::string& project) {
  std::string text;
  for (const Json& job : jobs)
    text += base + client::JobsPath(project, StringOr(job, "jobId")) + "\n";
  return text;
}

// gcloud's columns, and how long the job has run.
constexpr std::string_view kListColumns =
    "table(jobId.basename(),state:label=STATUS,createTime.date(tz=LOCAL):label=CREATED,duration)";

// Nothing for a job that has not started. Of a job that runs, emulated time may be ahead of the
// time of this process; then no duration is shown.
void AddDuration(Json& job) {
  const auto start = ParseRfc3339(StringOr(job, "startTime"));
  const auto end = ParseRfc3339(StringOr(job, "endTime"));
  const Instant until = end.value_or(SystemClock().Now());
  if (start && until >= *start) job["duration"] = HumanDuration(until - *start);
}

Status List(const ListCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  const size_t limit = command.limit ? static_cast<size_t>(*command.limit) : SIZE_MAX;
  const size_t wanted = command.sort_by.empty() ? limit : SIZE_MAX;
  ASSIGN_OR_RETURN(std::vector<Json> jobs,
                   NewestJobs(*connection, project, {command.filter.value_or(""), wanted}));
  SortResources(jobs, command.sort_by);
  if (jobs.size() > limit) jobs.resize(limit);
  if (command.uri) {
    world.io.out(Uris(jobs, connection->base_url(), project));
    return Ok{};
  }
  if (!command.gcloud.format) std::for_each(jobs.begin(), jobs.end(), AddDuration);
  const std::string format = command.gcloud.format.value_or(std::string(kListColumns));
  ASSIGN_OR_RETURN(const std::string text, FormatResources(Json(jobs), format, command.page_size));
  world.io.out(text);
  if (jobs.empty() && !command.gcloud.format) world.io.err("Listed 0 items.\n");
  return Ok{};
}

}  // namespace

int RunDescribe(const DescribeCommand& command, const Surroundings& world) {
  return ExitCodeOf(Describe(command, world), world.io, "describe");
}

int RunCancel(const CancelCommand& command, const Surroundings& world) {
  return ExitCodeOf(Cancel(command, world), world.io, "cancel");
}

int RunUpdate(const UpdateCommand& command, const Surroundings& world) {
  return ExitCodeOf(Update(command, world), world.io, "update");
}

int RunStreamLogs(const StreamLogsCommand& command, const Surroundings& world) {
  return ExitCodeOf(StreamLogs(command, world), world.io, "stream-logs");
}

int RunList(const ListCommand& command, const Surroundings& world) {
  return ExitCodeOf(List(command, world), world.io, "list");
}

}  // namespace caip::cli
