#include "emulator/cli/commands/follow.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/print/log_rows.h"

namespace caip::cli {
namespace {

// The emulator answers as soon as there is something, or after so long: Ctrl-C is looked at then.
constexpr int kTurnMilliseconds = 250;

// What was shown so far.
struct Shown {
  std::string last_entry;  // insertId
  std::string state;
  Instant created{};
};

std::string Target(const FollowRequest& request, const Shown& shown) {
  std::string target = "/emulator/v1/projects/" + PercentEncoded(request.project) + "/jobs/" +
                       PercentEncoded(request.job_id) +
                       ":follow?waitMs=" + std::to_string(kTurnMilliseconds) +
                       "&after=" + PercentEncoded(shown.last_entry) + "&state=" + shown.state;
  if (!request.task_name.empty()) target += "&task=" + PercentEncoded(request.task_name);
  return target;
}

Duration Since(const Shown& shown, const std::string& time) {
  const auto instant = ParseRfc3339(time);
  return instant && *instant > shown.created ? *instant - shown.created : Duration(0);
}

// Writes what the answer brings; entries in one piece, so that a flood costs few calls.
void Show(const Json& answer, const FollowRequest& request, const Io& io, Shown& shown) {
  if (const auto created = ParseRfc3339(StringOr(answer, "createTime"))) shown.created = *created;
  std::string rows;
  const Json* entries = Member(answer, "entries");
  for (const Json& entry : entries ? *entries : Json::array()) {
    rows += io.err_is_terminal ? ColourRows(entry, Since(shown, StringOr(entry, "timestamp")))
                               : PlainRows(entry, request.allow_multiline_logs);
  }
  shown.last_entry = StringOr(answer, "last", shown.last_entry);
  const std::string state = StringOr(answer, "state");
  if (state != shown.state && io.err_is_terminal) {
    rows += StateRow(state, Since(shown, StringOr(answer, "now")));
  }
  shown.state = state;
  if (!rows.empty()) io.err(rows);
}

std::string FailureOf(const http::ClientResponse& response) {
  const auto body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  return error ? StringOr(*error, "status") + ": " + StringOr(*error, "message")
               : "HTTP status " + std::to_string(response.status);
}

}  // namespace

FollowOutcome FollowJob(client::Connection& connection, const FollowRequest& request,
                        const Io& io) {
  app::InterruptGuard guard;
  Shown shown;
  while (!guard.interrupted()) {
    const auto response = connection.Send({.target = Target(request, shown)});
    if (guard.interrupted()) break;
    if (!response.ok()) {
      return {FollowOutcome::End::kFailed, response.error().message};
    }
    const auto answer = ParseJson(response->body);
    if (response->status != 200 || !answer.ok()) {
      return {FollowOutcome::End::kFailed, FailureOf(*response)};
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
