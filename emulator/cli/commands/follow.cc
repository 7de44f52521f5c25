#include "emulator/cli/commands/follow.h"

#include <cstdio>
#include <ctime>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/errors.h"
#include "emulator/app/attach/interrupt.h"

namespace caip::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr size_t kTaskColumns = 11;  // "evaluator-0"

std::string LocalTime(const std::string& rfc3339) {
  const auto instant = ParseRfc3339(rfc3339);
  if (!instant) return rfc3339;
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(*instant).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local);
  return text;
}

std::vector<std::string> LinesOf(const std::string& message) {
  std::vector<std::string> lines = Split(message, '\n');
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

// "worker-replica-3" -> "worker-3"; other tasks stay unchanged.
std::string ShortTask(const std::string& task) { return ReplaceAll(task, "-replica-", "-"); }

std::string_view ColourOf(const std::string& task) {
  if (task.starts_with("workerpool0")) return "\x1b[36m";
  if (task.starts_with("workerpool2")) return "\x1b[33m";
  if (task.starts_with("workerpool3")) return "\x1b[35m";
  if (task.starts_with("master")) return "\x1b[36m";     // cyan
  if (task.starts_with("worker")) return "\x1b[32m";     // green
  if (task.starts_with("ps")) return "\x1b[33m";         // yellow
  if (task.starts_with("evaluator")) return "\x1b[35m";  // magenta
  return "\x1b[2m";                                      // the service: faint
}

std::string Elapsed(Duration elapsed) {
  char text[32];
  std::snprintf(text, sizeof text, "%9s  ", HumanDuration(elapsed).c_str());
  return text;
}

// The longest time that the emulator waits for news before it answers. After each answer the
// command checks for Ctrl-C.
constexpr int kTurnMilliseconds = 250;

// The part of the log that was shown so far.
struct Shown {
  std::string last_entry;  // insertId
  std::string state;
  Instant created{};
};

Duration Since(const Shown& shown, const std::string& time) {
  const auto instant = ParseRfc3339(time);
  return instant && *instant > shown.created ? *instant - shown.created : Duration(0);
}

// Writes the entries of the answer in one call, so that many entries cost few calls.
void Show(const Json& answer, const FollowRequest& request, const Io& io, Shown& shown) {
  if (const auto created = ParseRfc3339(StringOr(answer, "createTime"))) shown.created = *created;
  std::string rows;
  const Json* entries = Member(answer, "entries");
  for (Json entry : entries ? *entries : Json::array()) {
    request.own_paths.ShowIn(entry);
    rows += io.err_is_terminal ? ColourRows(entry, Since(shown, StringOr(entry, "timestamp")))
                               : PlainRows(entry, request.allow_multiline_logs);
  }
  shown.last_entry = StringOr(answer, "last", shown.last_entry);
  const std::string state = StringOr(answer, "state");
  if (state != shown.state && io.err_is_terminal) {
    rows += StateRow(state, Since(shown, StringOr(answer, "now")));
  }
  shown.state = state;
  if (!rows.empty()) io.err(Coloured(rows));
}

std::string FailureOf(const http::ClientResponse& response, const FollowRequest& request) {
  const auto body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  if (!error) return "HTTP status " + std::to_string(response.status);
  const std::string name = StringOr(*error, "status");
  const Error refusal = client::errors::ServiceRefused(
      response.status, name, name + ": " + StringOr(*error, "message"), {});
  if (refusal.code != Code::kNotFound) return refusal.message;
  return client::errors::JobMissing(refusal, request.job_id, request.project).message;
}

}  // namespace

std::string FollowTarget(const FollowPlace& place) {
  std::string target = "/emulator/v1/projects/" + PercentEncoded(place.project) + "/jobs/" +
                       PercentEncoded(place.job_id) +
                       ":follow?waitMs=" + std::to_string(kTurnMilliseconds) +
                       "&after=" + PercentEncoded(place.last_entry) + "&state=" + place.state;
  if (!place.task_name.empty()) target += "&task=" + PercentEncoded(place.task_name);
  return target;
}

std::string PlainRows(const Json& entry, bool allow_multiline, TrialColumn trials) {
  const std::string message = StringOr(entry, "message");
  std::string head = StringOr(entry, "severity", "DEFAULT");
  head += '\t' + LocalTime(StringOr(entry, "timestamp"));
  head += '\t' + StringOr(entry, "task", "unknown_task");
  if (trials == TrialColumn::kShown) head += '\t' + StringOr(entry, "trial");
  head += '\t';
  std::string rows;
  for (const std::string& line :
       allow_multiline ? std::vector<std::string>{message} : LinesOf(message)) {
    rows += head + line + '\n';
  }
  return rows;
}

std::string ColourRows(const Json& entry, Duration elapsed) {
  const std::string task = StringOr(entry, "task", "unknown_task");
  const std::string severity = StringOr(entry, "severity");
  std::string name = ShortTask(task);
  if (const std::string trial = StringOr(entry, "trial"); !trial.empty()) name += "/" + trial;
  name.resize(std::max(name.size(), kTaskColumns), ' ');
  std::string_view message_colour;
  if (severity == "ERROR" || severity == "CRITICAL") message_colour = "\x1b[31m";
  if (severity == "WARNING") message_colour = "\x1b[33m";
  if (message_colour.empty() && task == "service") message_colour = "\x1b[2m";
  std::string rows;
  for (const std::string& line : LinesOf(StringOr(entry, "message"))) {
    rows += Elapsed(elapsed);
    rows += std::string(ColourOf(task)) + name + std::string(kReset) + " | ";
    rows += std::string(message_colour) + line;
    // A colour that the line sets ends with the line.
    const bool coloured = !message_colour.empty() || line.find('\x1b') != line.npos;
    rows += coloured ? std::string(kReset) + "\n" : "\n";
  }
  return rows;
}

std::string StateRow(std::string_view state, Duration elapsed) {
  std::string_view colour = "\x1b[1m";
  if (state == "SUCCEEDED") colour = "\x1b[1;32m";
  if (state == "FAILED") colour = "\x1b[1;31m";
  if (state == "CANCELLED" || state == "CANCELLING") colour = "\x1b[1;33m";
  return Elapsed(elapsed) + std::string(colour) + std::string(state) + std::string(kReset) + "\n";
}

FollowOutcome FollowJob(client::Connection& connection, const FollowRequest& request,
                        const Io& io) {
  app::InterruptGuard guard;
  Shown shown;
  while (!guard.interrupted()) {
    const auto response =
        connection.Send({.target = FollowTarget({request.project, request.job_id, request.task_name,
                                                 shown.last_entry, shown.state})});
    if (guard.interrupted()) break;
    if (!response.ok()) {
      return {FollowOutcome::End::kFailed, response.error().message};
    }
    const auto answer = ParseJson(response->body);
    if (response->status != 200 || !answer.ok()) {
      return {FollowOutcome::End::kFailed, FailureOf(*response, request)};
    }
    Show(*answer, request, io, shown);
    if (const Json* finished = Member(*answer, "finished"); finished && finished->get<bool>()) {
      return {};
    }
    if (const Json* ending = Member(*answer, "ending"); ending && ending->get<bool>()) {
      return {FollowOutcome::End::kStopped, ""};
    }
  }
  return {FollowOutcome::End::kInterrupted, "", guard.signal()};
}

}  // namespace caip::cli
