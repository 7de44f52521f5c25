// `caip jobs logs`: the log of a job so far, or a part of it.

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/clock.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/own_paths.h"
#include "harness/events/replica_name.h"

namespace caip::cli {
namespace {

// The longest time that the emulator waits for news. After each answer the command checks for
// Ctrl-C.
constexpr int kLogTurnMilliseconds = 250;
constexpr size_t kPageEntries = 2000;  // of an answer, if there are more
constexpr std::chrono::seconds kReadingMax{10};

size_t RankOf(const std::string& severity) {
  const auto& all = LogSeverities();
  return static_cast<size_t>(std::find(all.begin(), all.end(), severity) - all.begin());
}

/// Reads the log of a job and prints what was asked for.
class LogReader {
 public:
  LogReader(const LogsCommand& command, std::string project, client::Connection& connection,
            const Io& io)
      : command_(command),
        project_(std::move(project)),
        connection_(connection),
        io_(io),
        own_paths_(app::StateDirectory(command.emulator)) {}

  Status Run() {
    const app::InterruptGuard guard;
    is_printing_ = !command_.tail;
    RETURN_IF_ERROR(ReadAvailable(guard));
    for (const std::string& rows : last_) io_.out(Coloured(rows));
    last_.clear();
    is_printing_ = true;
    while (command_.follow && !is_over_ && !guard.interrupted()) {
      RETURN_IF_ERROR(ReadSome(kLogTurnMilliseconds));
    }
    return Ok{};
  }

 private:
  // A job may print faster than this reads: what it prints after a while is not part of the log so
  // far.
  Status ReadAvailable(const app::InterruptGuard& guard) {
    const auto began = MonotonicNow();
    do {
      RETURN_IF_ERROR(ReadSome(0));
      const bool ends = guard.interrupted() || (!is_over_ && read_ < kPageEntries) ||
                        (!is_over_ && MonotonicNow() - began > kReadingMax);
      if (ends) return Ok{};
    } while (read_ > 0);
    return Ok{};
  }

  Status ReadSome(int wait_ms) {
    const std::string target = "/emulator/v1/projects/" + PercentEncoded(project_) + "/jobs/" +
                               PercentEncoded(command_.job) +
                               ":follow?waitMs=" + std::to_string(wait_ms) + "&state=" + state_ +
                               "&after=" + PercentEncoded(after_);
    ASSIGN_OR_RETURN(const Json answer,
                     client::CallService(connection_, {.target = target}, project_));
    if (const auto created = ParseRfc3339(StringOr(answer, "createTime"))) created_ = *created;
    const std::string last = StringOr(answer, "last", after_);
    const Json* entries = Member(answer, "entries");
    read_ = entries ? entries->size() : 0;
    for (Json entry : entries ? *entries : Json::array()) Take(entry);
    after_ = last;
    state_ = StringOr(answer, "state");
    const auto is_set = [&](const char* name) {
      const Json* flag = Member(answer, name);
      return flag && *flag == true;
    };
    is_over_ = is_set("finished") || is_set("ending");
    return Ok{};
  }

  void Take(Json& entry) {
    if (!IsWanted(entry)) return;
    own_paths_.ShowIn(entry);
    const auto time = ParseRfc3339(StringOr(entry, "timestamp"));
    const Duration elapsed = time && *time > created_ ? *time - created_ : Duration(0);
    std::string rows = io_.out_is_terminal ? ColourRows(entry, elapsed) : PlainRows(entry, false);
    if (is_printing_) return io_.out(Coloured(rows));
    last_.push_back(std::move(rows));
    if (command_.tail && last_.size() > static_cast<size_t>(*command_.tail)) last_.pop_front();
  }

  bool IsWanted(const Json& entry) const {
    const std::string task = StringOr(entry, "task");
    if (command_.replica && *command_.replica != task &&
        *command_.replica != harness::ReplicaName(task)) {
      return false;
    }
    if (command_.trial && *command_.trial != StringOr(entry, "trial")) return false;
    return !command_.severity ||
           RankOf(StringOr(entry, "severity", "DEFAULT")) >= RankOf(*command_.severity);
  }

  const LogsCommand& command_;
  std::string project_;
  client::Connection& connection_;
  const Io& io_;
  const OwnPaths own_paths_;
  std::string after_;
  std::string state_;
  Instant created_{};
  size_t read_ = 0;  // entries of the last answer
  bool is_over_ = false;
  bool is_printing_ = false;
  std::deque<std::string> last_;  // rows, until all that is there was read
};

Status PrintLog(const LogsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  return LogReader(command, std::move(project), *connection, world.io).Run();
}

}  // namespace

const std::vector<std::string>& LogSeverities() {
  static const std::vector<std::string> all = {
      "DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY"};
  return all;
}

int RunLogs(const LogsCommand& command, const Surroundings& world) {
  const Status status = PrintLog(command, world);
  return status.ok() ? static_cast<int>(kExitSuccess) : Fail(world.io, "jobs.logs", status.error());
}

}  // namespace caip::cli
