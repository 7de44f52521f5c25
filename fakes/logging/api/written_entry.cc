#include "fakes/logging/api/written_entry.h"

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/api/log_entry_schema.h"
#include "fakes/logging/api/log_names.h"
#include "fakes/logging/filter/fields.h"

namespace caip::logging {
namespace {

constexpr size_t kEntryBytesMax = 256u << 10;  // of the service
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
    return errors::MemberMisfit(place + ".insertId", "512 characters at most");
  }
  if (written.insert_id.empty()) written.insert_id = defaults.new_insert_id();
  canonical["insertId"] = written.insert_id;
  const std::string severity = StringOr(canonical, "severity", "DEFAULT");
  written.severity = SeverityNumber(severity).value_or(0);
  if (severity == "DEFAULT") canonical.erase("severity");  // as proto3 JSON leaves it out
  if (const Json* labels = Member(canonical["resource"], "labels")) {
    written.job_id = StringOr(*labels, "job_id");
  }
  written.json = CompactJson(canonical);
  if (written.json.size() > kEntryBytesMax) {
    return errors::EntryTooLong(place, written.json.size(), kEntryBytesMax);
  }
  return written;
}

}  // namespace caip::logging
