#include "fakes/logging/api/written_entry.h"

#include "base/json.h"
#include "base/log_limit.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/messages.h"
#include "fakes/logging/filter/fields.h"

namespace caip::logging {
namespace {

bool IsOutputOnly(const std::string& name) {
  return name == "receiveTimestamp" || name == "metadata" || name == "errorGroups" ||
         name == "apphub" || name == "apphubDestination" || name == "apphubSource" ||
         name == "otel";
}

// In proto3 JSON an int64 is a string and an int32 is a number.
bool IsInt32(const std::string& path) {
  return path == "httpRequest.status" || path.starts_with("split.");
}

Result<Json> CanonicalNumber(const Json& value, const std::string& path, const std::string& place) {
  const bool is_text = value.is_string();
  const long long number = IntOr(Json{{"n", value}}, "n", INT64_MIN);
  if (number == INT64_MIN || (!is_text && !value.is_number_integer())) {
    return errors::MemberMisfit(place, "an integer");
  }
  if (IsInt32(path)) return Json(number);
  return Json(std::to_string(number));
}

Result<Json> CanonicalSeverity(const Json& value, const std::string& place) {
  std::optional<int> number;
  if (value.is_string()) number = SeverityNumber(value.get<std::string>());
  if (value.is_number_integer()) number = value.get<int>();
  if (!number || *number < 0) return errors::MemberMisfit(place, "a severity, such as \"ERROR\"");
  return Json(std::string(SeverityName(*number)));
}

Result<Json> CanonicalTime(const Json& value, const std::string& place) {
  const auto time = value.is_string() ? ParseRfc3339(value.get<std::string>()) : std::nullopt;
  if (!time) return errors::MemberMisfit(place, "a time in RFC 3339 format");
  return Json(Rfc3339(*time, 9));
}

Result<Json> CanonicalMessage(const Json& value, const std::string& path, const std::string& place);
Result<Json> CanonicalLabels(const Json& labels, const std::string& place);
Result<Json> CanonicalResource(const Json& resource, const std::string& place);

Result<Json> CanonicalValue(const Json& value, const FilterField& field, const std::string& place) {
  const std::string path = Join(field.path, ".");
  switch (field.kind) {
    case FieldKind::kNumber:
      return CanonicalNumber(value, path, place);
    case FieldKind::kSeverity:
      return CanonicalSeverity(value, place);
    case FieldKind::kTime:
      return CanonicalTime(value, place);
    case FieldKind::kFlag:
      if (!value.is_boolean()) return errors::MemberMisfit(place, "true or false");
      return value;
    case FieldKind::kDuration:
      if (!value.is_string() || !ParseProtoDuration(value.get<std::string>())) {
        return errors::MemberMisfit(place, "a duration, such as \"1.5s\"");
      }
      return value;
    case FieldKind::kText:
      if (!value.is_string()) return errors::MemberMisfit(place, "a string");
      return value;
    default:
      break;
  }
  if (path == "labels") return CanonicalLabels(value, place);
  if (path == "resource") return CanonicalResource(value, place);
  if (!value.is_object()) return errors::MemberMisfit(place, "an object");
  return path == "jsonPayload" || path == "protoPayload" ? Result<Json>(value)
                                                         : CanonicalMessage(value, path, place);
}

// `path` is "" for the entry itself.
Result<Json> CanonicalMessage(const Json& value, const std::string& path,
                              const std::string& place) {
  if (!value.is_object()) return errors::MemberMisfit(place, "an object");
  Json canonical = Json::object();
  for (const auto& [name, member] : value.items()) {
    if (member.is_null()) continue;  // counts as missing
    std::vector<std::string> segments =
        path.empty() ? std::vector<std::string>{} : Split(path, '.');
    segments.push_back(name);
    const auto field = ResolveField(segments);
    const std::string member_place = place + "." + name;
    if (path.empty() && IsOutputOnly(field ? field->path.back() : name)) continue;
    if (!field) return errors::MemberUnknown(name, place);
    ASSIGN_OR_RETURN(canonical[field->path.back()], CanonicalValue(member, *field, member_place));
  }
  return canonical;
}

// Omits members that only the service sets. Errors name the member: "entries[3].severity".
Result<Json> CanonicalLogEntry(const Json& entry, const std::string& place) {
  return CanonicalMessage(entry, "", place);
}

// A map of strings.
Result<Json> CanonicalLabels(const Json& labels, const std::string& place) {
  if (!labels.is_object()) return errors::MemberMisfit(place, "an object");
  for (const auto& [name, value] : labels.items()) {
    if (!value.is_string()) return errors::MemberMisfit(place + "." + name, "a string");
  }
  return labels;
}

// MonitoredResource: type and labels.
Result<Json> CanonicalResource(const Json& resource, const std::string& place) {
  if (!resource.is_object()) return errors::MemberMisfit(place, "an object");
  Json canonical = Json::object();
  for (const auto& [name, value] : resource.items()) {
    if (name == "type" && value.is_string()) {
      canonical["type"] = value;
    } else if (name == "labels") {
      ASSIGN_OR_RETURN(canonical["labels"], CanonicalLabels(value, place + ".labels"));
    } else {
      return errors::MemberUnknown(name, place);
    }
  }
  if (StringOr(canonical, "type").empty()) return errors::ResourceMissing(place);
  return canonical;
}

constexpr size_t kInsertIdBytesMax = 512;
constexpr std::chrono::hours kFutureMax{24};

Status CheckPayload(const Json& entry, const std::string& place) {
  const int payloads = entry.contains("textPayload") + entry.contains("jsonPayload") +
                       entry.contains("protoPayload");
  return payloads > 1 ? Status(errors::PayloadsDouble(place)) : Status(Ok{});
}

Status AddResource(Json& entry, const std::string& place, const WriteDefaults& defaults) {
  if (entry.contains("resource")) return Ok{};
  if (!defaults.resource) return errors::ResourceMissing(place + ".resource");
  ASSIGN_OR_RETURN(entry["resource"], CanonicalResource(*defaults.resource, "resource"));
  return Ok{};
}

Status AddLabels(Json& entry, const WriteDefaults& defaults) {
  if (!defaults.labels) return Ok{};
  ASSIGN_OR_RETURN(Json labels, CanonicalLabels(*defaults.labels, "labels"));
  if (const Json* own = Member(entry, "labels")) labels.update(*own);
  entry["labels"] = std::move(labels);
  return Ok{};
}

Result<Instant> AddTime(Json& entry, const std::string& place, const WriteDefaults& defaults) {
  const std::string text = StringOr(entry, "timestamp");
  const Instant time = text.empty() ? defaults.now : *ParseRfc3339(text);
  if (time > defaults.now + kFutureMax) return errors::TimeTooLate(place + ".timestamp", text);
  entry["timestamp"] = Rfc3339(time, 9);
  entry["receiveTimestamp"] = Rfc3339(defaults.now, 9);
  return time;
}

}  // namespace

Result<WrittenEntry> ReadWrittenEntry(const Json& entry, const std::string& place,
                                      const WriteDefaults& defaults) {
  ASSIGN_OR_RETURN(Json canonical, CanonicalLogEntry(entry, place));
  RETURN_IF_ERROR(CheckPayload(canonical, place));
  RETURN_IF_ERROR(AddResource(canonical, place, defaults));
  RETURN_IF_ERROR(AddLabels(canonical, defaults));
  WrittenEntry written;
  ASSIGN_OR_RETURN(written.time, AddTime(canonical, place, defaults));
  ASSIGN_OR_RETURN(const LogKey log,
                   ParseLogName(StringOr(canonical, "logName", defaults.log_name)));
  written.parent = log.parent;
  written.log_id = log.log_id;
  canonical["logName"] = LogNameText(log);
  written.insert_id = StringOr(canonical, "insertId");
  if (written.insert_id.size() > kInsertIdBytesMax) {
    return errors::MemberMisfit(place + ".insertId", "at most 512 characters");
  }
  if (written.insert_id.empty()) written.insert_id = defaults.new_insert_id();
  canonical["insertId"] = written.insert_id;
  const std::string severity = StringOr(canonical, "severity", "DEFAULT");
  written.severity = SeverityNumber(severity).value_or(0);
  if (severity == "DEFAULT") canonical.erase("severity");  // proto3 JSON omits defaults
  if (const Json* labels = Member(canonical["resource"], "labels")) {
    written.job_id = StringOr(*labels, "job_id");
  }
  written.json = CompactJson(canonical);
  if (written.json.size() > kLogEntryBytesMax) {
    return errors::EntryTooLong(place, written.json.size(), kLogEntryBytesMax);
  }
  return written;
}

}  // namespace caip::logging
