// `ai custom-jobs|hp-tuning-jobs stream-logs`: the log of a job until the job ends. gcloud reads
// the job only once, so its command never ends for a job that runs (docs/vertex.md).

#include <poll.h>

#include <chrono>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/ai/ai_call.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/own_paths.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;

constexpr int kAiPollMilliseconds = 250;
constexpr size_t kAiPageEntries = 1000;
// Entries of several replicas arrive late: each reading looks back this long, and skips what it has
// shown.
constexpr std::chrono::seconds kLookBack{10};
constexpr std::string_view kFirstTime = "1970-01-01T01:00:00.000000000Z";

// The text between the quotes of a filter.
std::string FilterText(const std::string& text) {
  return ReplaceAll(ReplaceAll(text, "\\", "\\\\"), "\"", "\\\"");
}

// An entry of the Logging API as follow.h prints it.
Json ShownEntry(const Json& entry) {
  Json shown = Json::object();
  shown["severity"] = StringOr(entry, "severity", "DEFAULT");
  shown["timestamp"] = StringOr(entry, "timestamp");
  const Json* resource = Member(entry, "resource");
  const Json* labels = resource ? Member(*resource, "labels") : nullptr;
  const std::string task = labels ? StringOr(*labels, "task_name") : "";
  if (!task.empty()) shown["task"] = task;
  const Json* payload = Member(entry, "jsonPayload");
  shown["message"] = payload ? StringOr(*payload, "message") : StringOr(entry, "textPayload");
  return shown;
}

/// Prints the entries of one job as they arrive.
class AiLogStream {
 public:
  AiLogStream(const AiStreamLogsCommand& command, const AiCall& call, const Io& io)
      : command_(command),
        call_(call),
        io_(io),
        own_paths_(app::StateDirectory(command.emulator)) {}

  Status Run() {
    const app::InterruptGuard guard;
    while (!guard.interrupted()) {
      // The job is read before its log, so that the log of an ended job is complete.
      ASSIGN_OR_RETURN(const bool has_ended, ReadJob());
      ASSIGN_OR_RETURN(const size_t shown, ShowNew());
      if (has_ended && shown == 0) return Ok{};
      if (has_ended) continue;
      pollfd wake{guard.descriptor(), POLLIN, 0};
      ::poll(&wake, 1, kAiPollMilliseconds);
    }
    io_.err(errors::Interrupted(guard.signal()));
    return Ok{};
  }

 private:
  Result<bool> ReadJob() {
    ASSIGN_OR_RETURN(const Json job, vertex::CallForJob(*call_.connection,
                                                        {.target = call_.job.Path()}, call_.job));
    if (const auto created = ParseRfc3339(StringOr(job, "createTime"))) created_ = *created;
    state_ = ReplaceAll(StringOr(job, "state"), "JOB_STATE_", "");
    return Member(job, "endTime") != nullptr;
  }

  std::string Filter() const {
    std::string filter =
        "resource.type=\"ml_job\" AND resource.labels.job_id=\"" + FilterText(call_.job.id) + "\"";
    if (command_.task_name) {
      filter += " AND resource.labels.task_name=\"" + FilterText(*command_.task_name) + "\"";
    }
    const std::string from = from_ == Instant{} ? std::string(kFirstTime) : Rfc3339(from_, 9);
    return filter + " AND timestamp>=\"" + from + "\"";
  }

  // Reads all pages, and returns how many entries were new.
  Result<size_t> ShowNew() {
    if (newest_ != Instant{}) from_ = newest_ - kLookBack;
    Json body = {{"resourceNames", Json::array({"projects/" + call_.job.location.project})},
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
                       client::CallService(*call_.connection, request, call_.job.location.project));
      const Json* entries = Member(page, "entries");
      for (const Json& entry : entries ? *entries : Json::array()) {
        shown += Take(entry, rows) ? 1 : 0;
      }
      body["pageToken"] = StringOr(page, "nextPageToken");
    } while (!StringOr(body, "pageToken").empty());
    if (io_.err_is_terminal && state_ != shown_state_) {
      rows += StateRow(state_, newest_ > created_ ? newest_ - created_ : Duration(0));
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
    Json shown = ShownEntry(entry);
    own_paths_.ShowIn(shown);
    const Duration elapsed = time > created_ ? time - created_ : Duration(0);
    rows += io_.err_is_terminal
                ? ColourRows(shown, elapsed)
                : PlainRows(shown, command_.allow_multiline_logs, TrialColumn::kNone);
    return true;
  }

  // Entries that no later reading finds.
  void Forget() {
    std::erase_if(seen_, [&](const auto& one) { return one.second < from_; });
  }

  const AiStreamLogsCommand& command_;
  const AiCall& call_;
  const Io& io_;
  const OwnPaths own_paths_;
  Instant created_{};
  Instant newest_{};  // of the shown entries
  Instant from_{};    // the earliest time that is asked for
  std::string state_;
  std::string shown_state_;
  std::map<std::string, Instant> seen_;  // by insertId
};

Status StreamAiLogs(const AiStreamLogsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const AiCall call, BeginAiCall(command, world));
  // The log is the result of this command.
  Io as_result = world.io;
  as_result.err = world.io.out;
  as_result.err_is_terminal = world.io.out_is_terminal;
  return AiLogStream(command, call, as_result).Run();
}

}  // namespace

int RunAiStreamLogs(const AiStreamLogsCommand& command, const Surroundings& world) {
  return ExitCodeOfAi(StreamAiLogs(command, world), command.kind, "stream-logs", world.io);
}

}  // namespace caip::cli
