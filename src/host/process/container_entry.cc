#include "host/process/container_entry.h"

#include <string>

#include "base/json.h"
#include "base/text.h"

namespace caip::host {
namespace {

// In any letter case, as the agents of Cloud Logging read it.
engine::Severity ContainerSeverity(const std::string& name) {
  using enum run::Severity;
  for (const engine::Severity severity :
       {kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency}) {
    if (run::Name(severity) == UpperCase(name)) return severity;
  }
  return UpperCase(name) == "WARN" ? kWarning : kDefault;
}

}  // namespace

std::optional<engine::LogLine> ContainerEntry(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return std::nullopt;
  engine::LogLine entry;
  entry.severity = engine::Severity::kDefault;
  entry.message = line;
  entry.payload = run::Payload::kText;
  if (!Trim(line).starts_with('{')) return entry;
  const Result<Json> object = ParseJson(line);
  if (!object.ok() || !object->is_object()) return entry;
  entry.payload = run::Payload::kObject;
  entry.severity = ContainerSeverity(StringOr(*object, "severity"));
  return entry;
}

}  // namespace caip::host
