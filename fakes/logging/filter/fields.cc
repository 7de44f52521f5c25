#include "fakes/logging/filter/fields.h"

#include <charconv>

#include "base/text.h"

namespace caip::logging {
namespace {

struct KnownField {
  std::string_view path;
  FieldKind kind;
};

// google.logging.v2.LogEntry. A kFree field may have any members.
constexpr KnownField kFields[] = {
    {"logName", FieldKind::kText},
    {"insertId", FieldKind::kText},
    {"textPayload", FieldKind::kText},
    {"trace", FieldKind::kText},
    {"spanId", FieldKind::kText},
    {"traceSampled", FieldKind::kFlag},
    {"timestamp", FieldKind::kTime},
    {"receiveTimestamp", FieldKind::kTime},
    {"severity", FieldKind::kSeverity},
    {"jsonPayload", FieldKind::kFree},
    {"protoPayload", FieldKind::kFree},
    {"labels", FieldKind::kFree},
    {"resource", FieldKind::kMessage},
    {"resource.type", FieldKind::kText},
    {"resource.labels", FieldKind::kFree},
    {"metadata", FieldKind::kMessage},
    {"metadata.systemLabels", FieldKind::kFree},
    {"metadata.userLabels", FieldKind::kFree},
    {"apphub", FieldKind::kFree},
    {"errorGroups", FieldKind::kMessage},
    {"errorGroups.id", FieldKind::kFree},  // repeated
    {"operation", FieldKind::kMessage},
    {"operation.id", FieldKind::kText},
    {"operation.producer", FieldKind::kText},
    {"operation.first", FieldKind::kFlag},
    {"operation.last", FieldKind::kFlag},
    {"sourceLocation", FieldKind::kMessage},
    {"sourceLocation.file", FieldKind::kText},
    {"sourceLocation.line", FieldKind::kNumber},
    {"sourceLocation.function", FieldKind::kText},
    {"split", FieldKind::kMessage},
    {"split.uid", FieldKind::kText},
    {"split.index", FieldKind::kNumber},
    {"split.totalSplits", FieldKind::kNumber},
    {"httpRequest", FieldKind::kMessage},
    {"httpRequest.requestMethod", FieldKind::kText},
    {"httpRequest.requestUrl", FieldKind::kText},
    {"httpRequest.requestSize", FieldKind::kNumber},
    {"httpRequest.status", FieldKind::kNumber},
    {"httpRequest.responseSize", FieldKind::kNumber},
    {"httpRequest.userAgent", FieldKind::kText},
    {"httpRequest.remoteIp", FieldKind::kText},
    {"httpRequest.serverIp", FieldKind::kText},
    {"httpRequest.referer", FieldKind::kText},
    {"httpRequest.latency", FieldKind::kDuration},
    {"httpRequest.cacheLookup", FieldKind::kFlag},
    {"httpRequest.cacheHit", FieldKind::kFlag},
    {"httpRequest.cacheValidatedWithOriginServer", FieldKind::kFlag},
    {"httpRequest.cacheFillBytes", FieldKind::kNumber},
    {"httpRequest.protocol", FieldKind::kText},
};

struct SeverityLevel {
  std::string_view name;
  int number;
};

constexpr SeverityLevel kSeverities[] = {
    {"DEFAULT", 0}, {"DEBUG", 100},    {"INFO", 200},  {"NOTICE", 300},    {"WARNING", 400},
    {"ERROR", 500}, {"CRITICAL", 600}, {"ALERT", 700}, {"EMERGENCY", 800},
};

const KnownField* FindField(std::string_view path) {
  for (const KnownField& field : kFields) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

}  // namespace

std::string LowerCamelCase(std::string_view name) {
  std::string camel;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_break = name[i] == '_' && i + 1 < name.size();
    camel += is_break ? UpperCase(name.substr(++i, 1)) : std::string(1, name[i]);
  }
  return camel;
}

std::optional<FilterField> ResolveField(const std::vector<std::string>& segments) {
  FilterField field;
  std::string path;
  bool is_below_a_map = false;
  for (const std::string& segment : segments) {
    if (segment.empty()) return std::nullopt;
    if (!field.path.empty() && field.kind == FieldKind::kFree) {
      is_below_a_map = true;
      field.path.push_back(segment);
      continue;
    }
    const std::string name = LowerCamelCase(segment);
    path += (path.empty() ? "" : ".") + name;
    const KnownField* known = FindField(path);
    if (!known) return std::nullopt;
    field.path.push_back(name);
    field.kind = known->kind;
  }
  if (field.path.empty()) return std::nullopt;
  const bool is_map = field.kind == FieldKind::kFree && !is_below_a_map;
  if (is_map && path != "errorGroups.id") field.kind = FieldKind::kMessage;
  return field;
}

std::optional<int> SeverityNumber(std::string_view text) {
  const std::string name = UpperCase(text);
  for (const SeverityLevel& level : kSeverities) {
    if (level.name == name) return level.number;
  }
  if (name == "WARN") return 400;  // the service's own clients write it
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string_view SeverityName(int number) {
  std::string_view name = kSeverities[0].name;
  for (const SeverityLevel& level : kSeverities) {
    if (level.number <= number) name = level.name;
  }
  return name;
}

}  // namespace caip::logging
