#include "host/process/python_record.h"

#include "base/json.h"

namespace caip::host {
namespace {

std::optional<run::Severity> SeverityNamed(std::string_view name) {
  for (run::Severity severity :
       {run::Severity::kDebug, run::Severity::kInfo, run::Severity::kWarning, run::Severity::kError,
        run::Severity::kCritical}) {
    if (Name(severity) == name) return severity;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PythonRecord> ParsePythonRecord(std::string_view json) {
  const Result<Json> parsed = ParseJson(json);
  if (!parsed.ok()) return std::nullopt;
  const auto severity = SeverityNamed(StringOr(*parsed, "severity"));
  const Json* message = Member(*parsed, "message");
  if (!severity || !message || !message->is_string()) return std::nullopt;
  PythonRecord record;
  record.severity = *severity;
  record.message = message->get<std::string>();
  record.pathname = StringOr(*parsed, "pathname");
  const long long line_number = IntOr(*parsed, "lineno", 0);
  if (line_number > 0 && line_number <= 0x7fffffff) {
    record.line_number = static_cast<int>(line_number);
  }
  record.thread = StringOr(*parsed, "thread");
  return record;
}

}  // namespace caip::host
