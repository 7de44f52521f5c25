#include "emulator/cli/ai/log_stream.h"

#include <poll.h>

#include <chrono>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/vertex/preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/follow.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;

constexpr int kAiPollMilliseconds = 250;
constexpr size_t kAiPageEntries = 1000;
// Entries that clients have written may arrive a little late: each reading looks back this long,
// and skips what it has shown.
constexpr std::chrono::seconds kLookBack{2};
constexpr std::string_view kFirstTime = "1970-01-01T01:00:00.000000000Z";

// The text between the quotes of a filter.
std::string FilterText(const std::string& text) {
  return ReplaceAll(ReplaceAll(text, "\\", "\\\\"), "\"", "\\\"");
}

// What the replica printed: a JSON object whose members are more than a message, or the message.
// The launcher of packages adds members of its own to a message.
std::string PrintedText(const Json& payload) {
  const bool is_message = payload.size() == 1 || Member(payload, "levelname") != nullptr;
  return is_message && Member(payload, "message") ? StringOr(payload, "message")
                                                  : CompactJson(payload);
}

// An entry of the Logging API as follow.h prints it.
Json ShownEntry(const Json& entry, bool only_messages) {
  Json shown = Json::object();
  shown["severity"] = StringOr(entry, "severity", "DEFAULT");
  shown["timestamp"] = StringOr(entry, "timestamp");
  const Json* resource = Member(entry, "resource");
  const Json* labels = resource ? Member(*resource, "labels") : nullptr;
  const std::string task = labels ? StringOr(*labels, "task_name") : "";
  if (!task.empty()) shown["task"] = task;
  const Json* payload = Member(entry, "jsonPayload");
  if (payload == nullptr) {
    shown["message"] = StringOr(entry, "textPayload");
  } else {
    shown["message"] = only_messages ? PrintedText(*payload) : StringOr(*payload, "message");
  }
  return shown;
}

// An entry of the emulator's own follow method, likewise.
Json FollowedEntry(Json entry, bool only_messages) {
  const Json* is_object = Member(entry, "isObject");
  if (!is_object) return entry;
  Result<Json> payload = ParseJson(StringOr(entry, "message"));
  if (!payload.ok() || !payload->is_object()) return entry;
  const std::string severity = UpperCase(StringOr(*payload, "severity"));
  if (StringOr(entry, "severity", "DEFAULT") != "DEFAULT" || severity == "DEFAULT") {
    payload->erase("severity");  // the entry has it
  }
  entry["message"] = only_messages ? PrintedText(*payload) : StringOr(*payload, "message");
  return entry;
}

/// Prints the entries of one job as they arrive. The emulator's own method follows the entries of
/// the job in the order of their arrival, and the Logging API lists those that clients have written
/// for it. The latter lists all entries where the emulator has no job of that id in the project:
/// the id is that of a trial, or the project another.
class AiLogStream {
 public:
  AiLogStream(client::Connection& connection, const AiLogRequest& request, const Io& io)
      : connection_(connection),
        request_(request),
        io_(io),
        place_{request.log_project, request.job.id, request.task_name.value_or(""), "", ""},
        follows_(request.task_name != "") {}

  Result<int> Run() {
    const app::InterruptGuard guard;
    while (!guard.interrupted()) {
      // The job is read before its log, so that the log of an ended job is complete.
      ASSIGN_OR_RETURN(const bool has_ended, ReadJob());
      RETURN_IF_ERROR(FollowLog());
      if (has_ended && follows_ && !is_complete_) continue;
      ASSIGN_OR_RETURN(const size_t shown, ShowListed());
      if (has_ended && shown == 0) return 0;
      if (has_ended || (follows_ && !is_ending_)) continue;
      pollfd wake{guard.descriptor(), POLLIN, 0};
      ::poll(&wake, 1, kAiPollMilliseconds);
    }
    return guard.signal();
  }

 private:
  Result<bool> ReadJob() {
    ASSIGN_OR_RETURN(
        const Json job,
        vertex::CallForJob(connection_, {.target = request_.job.Path()}, request_.job));
    if (const auto created = ParseRfc3339(StringOr(job, "createTime"))) created_ = *created;
    state_ = ReplaceAll(StringOr(job, "state"), "JOB_STATE_", "");
    return Member(job, "endTime") != nullptr;
  }

  std::string Filter() const {
    std::string filter = "resource.type=\"ml_job\" AND resource.labels.job_id=\"" +
                         FilterText(request_.job.id) + "\"";
    if (request_.task_name) {
      filter += " AND resource.labels.task_name=\"" + FilterText(*request_.task_name) + "\"";
    }
    const std::string from = from_ == Instant{} ? std::string(kFirstTime) : Rfc3339(from_, 9);
    if (follows_) filter += " AND NOT labels.\"ml.googleapis.com/job_id\":*";
    return filter + " AND timestamp>=\"" + from + "\"";
  }

  // Waits a little until there are new entries, and shows them.
  Status FollowLog() {
    if (!follows_) return Ok{};
    const auto answer =
        client::CallService(connection_, {.target = FollowTarget(place_)}, place_.project);
    follows_ = answer.ok() || answer.error().code != Code::kNotFound;
    if (!follows_) return Ok{};
    if (!answer.ok()) return answer.error();
    std::string rows;
    if (const Json* entries = Member(*answer, "entries")) {
      for (const Json& entry : *entries) {
        const Instant time = ParseRfc3339(StringOr(entry, "timestamp")).value_or(Instant{});
        AddRows(FollowedEntry(entry, request_.only_messages), time, rows);
      }
    }
    place_.last_entry = StringOr(*answer, "last", place_.last_entry);
    place_.state = StringOr(*answer, "state");
    is_complete_ = IsTrue(*answer, "finished");
    is_ending_ = IsTrue(*answer, "ending");
    if (!rows.empty()) io_.err(Coloured(rows));
    return Ok{};
  }

  // Reads all pages of the Logging API, and returns how many entries were new.
  Result<size_t> ShowListed() {
    if (newest_ != Instant{}) from_ = newest_ - kLookBack;
    Json body = {{"resourceNames", Json::array({"projects/" + request_.log_project})},
                 {"filter", Filter()},
                 {"orderBy", "timestamp asc"},
                 {"pageSize", kAiPageEntries}};
    std::string rows;
    size_t shown = 0;
    do {
      http::ClientRequest request{.method = "POST", .target = "/v2/entries:list"};
      request.headers.Set("Content-Type", "application/json");
      request.body = CompactJson(body);
      ASSIGN_OR_RETURN(const Json page,
                       client::CallService(connection_, request, request_.job.location.project));
      const Json* entries = Member(page, "entries");
      for (const Json& entry : entries ? *entries : Json::array()) {
        shown += Take(entry, rows) ? 1 : 0;
      }
      body["pageToken"] = StringOr(page, "nextPageToken");
    } while (!StringOr(body, "pageToken").empty());
    if (io_.err_is_terminal && !request_.only_messages && state_ != shown_state_) {
      rows += StateRow(state_, last_shown_ > created_ ? last_shown_ - created_ : Duration(0));
      shown_state_ = state_;
    }
    if (!rows.empty()) io_.err(Coloured(rows));
    Forget();
    return shown;
  }

  // False if the entry was shown before.
  bool Take(const Json& entry, std::string& rows) {
    const Instant time = ParseRfc3339(StringOr(entry, "timestamp")).value_or(newest_);
    if (time < from_) return false;
    if (!seen_.emplace(StringOr(entry, "insertId"), time).second) return false;
    newest_ = std::max(newest_, time);
    AddRows(ShownEntry(entry, request_.only_messages), time, rows);
    return true;
  }

  void AddRows(Json shown, Instant time, std::string& rows) {
    last_shown_ = std::max(last_shown_, time);
    request_.own_paths.ShowIn(shown);
    const Duration elapsed = time > created_ ? time - created_ : Duration(0);
    if (request_.only_messages) {
      rows += StringOr(shown, "message") + (StringOr(shown, "message").ends_with('\n') ? "" : "\n");
      return;
    }
    rows += io_.err_is_terminal
                ? ColourRows(shown, elapsed)
                : PlainRows(shown, request_.allow_multiline_logs, TrialColumn::kNone);
  }

  // Entries that no later reading finds.
  void Forget() {
    std::erase_if(seen_, [&](const auto& one) { return one.second < from_; });
  }

  client::Connection& connection_;
  const AiLogRequest& request_;
  const Io& io_;
  Instant created_{};
  Instant last_shown_{};
  Instant newest_{};  // of the entries that were listed
  Instant from_{};    // the earliest time that is asked for
  std::string state_;
  std::string shown_state_;
  FollowPlace place_;
  bool follows_;                         // the emulator has the job's log
  bool is_complete_ = false;             // all of it was shown
  bool is_ending_ = false;               // the emulator
  std::map<std::string, Instant> seen_;  // by insertId
};

}  // namespace

Result<int> StreamAiLog(client::Connection& connection, const AiLogRequest& request, const Io& io) {
  return AiLogStream(connection, request, io).Run();
}

}  // namespace caip::cli
