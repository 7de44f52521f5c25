#include "emulator/cli/print/log_rows.h"

#include <cstdio>
#include <ctime>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"

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

// "worker-replica-3" -> "worker-3"; others as they are.
std::string ShortTask(const std::string& task) { return ReplaceAll(task, "-replica-", "-"); }

std::string_view ColourOf(const std::string& task) {
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

}  // namespace

std::string PlainRows(const Json& entry, bool allow_multiline) {
  const std::string message = StringOr(entry, "message");
  std::string head = StringOr(entry, "severity", "DEFAULT");
  head += '\t' + LocalTime(StringOr(entry, "timestamp"));
  head += '\t' + StringOr(entry, "task", "unknown_task");
  head += '\t' + StringOr(entry, "trial") + '\t';
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
  std::string_view message_colour = "";
  if (severity == "ERROR" || severity == "CRITICAL") message_colour = "\x1b[31m";
  if (severity == "WARNING") message_colour = "\x1b[33m";
  if (message_colour.empty() && task == "service") message_colour = "\x1b[2m";
  std::string rows;
  for (const std::string& line : LinesOf(StringOr(entry, "message"))) {
    rows += Elapsed(elapsed);
    rows += std::string(ColourOf(task)) + name + std::string(kReset) + " | ";
    rows += std::string(message_colour) + line;
    rows += message_colour.empty() ? "\n" : std::string(kReset) + "\n";
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

}  // namespace caip::cli
