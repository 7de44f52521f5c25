
#include "fakes/logging/book/entry.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"

namespace caip::logging {
namespace {

Json JobLinePayload(const Entry& entry) {
  const double seconds =
      std::chrono::duration<double>(
          std::chrono::floor<std::chrono::microseconds>(entry.timestamp.time_since_epoch()))
          .count();
  // Clients may rely on all members but thread (docs/service/replica-environment.md, section 6).
  Json payload = {{"message", entry.message},
                  {"levelname", entry.severity},
                  {"created", seconds},
                  {"pathname", entry.pathname},
                  {"lineno", entry.lineno}};
  if (!entry.thread.empty()) payload["thread"] = entry.thread;
  return payload;
}

// Whether the severity of the entry says all that the line's member "severity" says. An entry with
// an unknown name, or with something else than a name, has the severity DEFAULT.
bool HasSeverityOf(const Json& object, const Entry& entry) {
  const bool is_default = entry.severity.empty() || entry.severity == "DEFAULT";
  return !is_default || UpperCase(StringOr(object, "severity")) == "DEFAULT";
}

void AddPayload(const Entry& entry, Json& json) {
  if (entry.task == "service" || entry.form == Entry::Form::kText) {
    json["textPayload"] = entry.message;
    return;
  }
  if (entry.form == Entry::Form::kRecord) {
    json["jsonPayload"] = JobLinePayload(entry);
    return;
  }
  Result<Json> object = ParseJson(entry.message);
  if (!object.ok() || !object->is_object()) {
    json["textPayload"] = entry.message;
    return;
  }
  if (HasSeverityOf(*object, entry)) object->erase("severity");
  json["jsonPayload"] = *std::move(object);
}

constexpr std::string_view kEntryFormNames[] = {"", "text", "object"};

std::string_view EntryFormName(Entry::Form form) {
  return kEntryFormNames[static_cast<size_t>(form)];
}

Entry::Form EntryFormNamed(std::string_view name) {
  for (const Entry::Form form : {Entry::Form::kText, Entry::Form::kObject}) {
    if (EntryFormName(form) == name) return form;
  }
  return Entry::Form::kRecord;
}

}  // namespace

std::string InsertIdText(uint64_t insert_id) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(insert_id));
  return text;
}

uint64_t ParseInsertId(const std::string& text) {
  if (text.empty() || text.size() > 16) return 0;
  uint64_t insert_id = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    insert_id = insert_id * 10 + static_cast<uint64_t>(digit - '0');
  }
  return insert_id;
}

std::string WrittenInsertIdText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "w%015llx", static_cast<unsigned long long>(number));
  return text;
}

std::string ProjectParent(const std::string& project) { return "projects/" + project; }

std::string LogIdOfTask(const JobLogNames& names, const std::string& task,
                        const std::string& job_id) {
  return task == "service" ? names.service + "/" + job_id : task;
}

Json LogEntryJson(const JobLogNames& names, const Entry& entry) {
  const std::string time = Rfc3339(entry.timestamp, 9);
  const std::string log_id = LogIdOfTask(names, entry.task, entry.job_id);
  Json labels = {{names.service + "/job_id", entry.job_id},
                 {names.service + "/job_id/log_area", "root"},
                 {names.service + "/task_name", entry.task}};
  if (!entry.trial.empty()) labels[names.service + "/trial_id"] = entry.trial;
  Json json = {
      {"insertId", InsertIdText(entry.insert_id)},
      {"logName", ProjectParent(entry.project) + "/logs/" + PercentEncoded(log_id)},
      {"resource",
       {{"type", names.resource_type},
        {"labels",
         {{"job_id", entry.job_id}, {"project_id", entry.project}, {"task_name", entry.task}}}}},
      {"timestamp", time},
      {"receiveTimestamp", time},
      {"severity", entry.severity.empty() ? "DEFAULT" : entry.severity},
      {"labels", std::move(labels)}};
  AddPayload(entry, json);
  return json;
}

namespace {

constexpr size_t kSecondDigits = sizeof("2022-02-09T17:36:42") - 1;

/// True if JSON requires an escape for this byte of UTF-8.
bool NeedsEscape(char byte) {
  return static_cast<unsigned char>(byte) < 0x20 || byte == '"' || byte == '\\';
}

void WriteEscape(char byte, std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  switch (byte) {
    case '"':
      text.append("\\\"");
      return;
    case '\\':
      text.append("\\\\");
      return;
    case '\n':
      text.append("\\n");
      return;
    case '\t':
      text.append("\\t");
      return;
    default:
      text.append("\\u00").push_back(kDigits[(byte >> 4) & 0xf]);
      text.push_back(kDigits[byte & 0xf]);
  }
}

void WriteQuoted(std::string_view value, std::string& text) {
  const size_t begin = text.size();
  text.push_back('"');
  size_t done = 0;
  bool is_ascii = true;
  for (size_t at = 0; at < value.size(); ++at) {
    is_ascii &= static_cast<signed char>(value[at]) >= 0;
    if (!NeedsEscape(value[at])) continue;
    text.append(value.substr(done, at - done));
    WriteEscape(value[at], text);
    done = at + 1;
  }
  text.append(value.substr(done));
  text.push_back('"');
  if (is_ascii || IsUtf8(value)) return;
  text.resize(begin);  // not UTF-8: the JSON library replaces the broken bytes
  text.append(CompactJson(Json(std::string(value))));
}

/// `name` is `"name":`. A comma ends each member; the caller turns the last comma into the brace.
void WriteMember(std::string_view name, std::string_view value, std::string& text) {
  text.append(name);
  WriteQuoted(value, text);
  text.push_back(',');
}

void WriteUnlessEmpty(std::string_view name, std::string_view value, std::string& text) {
  if (!value.empty()) WriteMember(name, value, text);
}

/// Writes a member that differs from the line before, and remembers its value.
void WriteChange(std::string_view name, const std::string& value, std::string& previous,
                 std::string& text) {
  if (value == previous) return;
  WriteMember(name, value, text);
  previous = value;
}

}  // namespace

void EntryWriter::WriteTime(Instant time, std::string& text) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (second != second_) {
    second_ = second;
    second_text_ = Rfc3339(second).substr(0, kSecondDigits);
  }
  text.append(second_text_).push_back('.');
  char digits[9];
  int64_t nanos = (time - second).count();
  for (int i = 8; i >= 0; --i, nanos /= 10) digits[i] = static_cast<char>('0' + nanos % 10);
  text.append(digits, sizeof digits).push_back('Z');
}

void EntryWriter::Write(const Entry& entry, Instant time, std::string& text) {
  text.push_back('{');
  if (!previous_ || previous_->time != time) {
    text.append("\"time\":\"");
    WriteTime(time, text);
    text.append("\",");
  }
  if (!previous_) previous_.emplace();
  previous_->time = time;
  WriteChange("\"severity\":", entry.severity, previous_->severity, text);
  WriteChange("\"task\":", entry.task, previous_->task, text);
  WriteChange("\"trial\":", entry.trial, previous_->trial, text);
  WriteMember("\"message\":", entry.message, text);
  WriteUnlessEmpty("\"pathname\":", entry.pathname, text);
  if (entry.lineno != 0) {
    text.append("\"lineno\":").append(std::to_string(entry.lineno)).push_back(',');
  }
  WriteUnlessEmpty("\"thread\":", entry.thread, text);
  WriteUnlessEmpty("\"form\":", EntryFormName(entry.form), text);
  text.back() = '}';
  text.push_back('\n');
}

namespace {

/// Removes `name` and its value from the front of a line. False: the value has an escape, or no
/// end.
bool TakeMember(std::string_view name, std::string_view& line, std::string_view& value) {
  const size_t end = line.find('"', name.size());
  if (end == line.npos) return false;
  value = line.substr(name.size(), end - name.size());
  line.remove_prefix(std::min(end + 2, line.size()));  // and the comma
  return value.find('\\') == value.npos;
}

constexpr std::string_view kTimeMember = "\"time\":\"";

/// The same for the time. Fast if it has the length that EntryWriter writes.
bool TakeTime(std::string_view& line, std::string_view& time) {
  constexpr size_t kLength = sizeof("2022-02-09T17:36:42.123456789Z") - 1;
  const std::string_view value = line.substr(kTimeMember.size(), kLength + 1);
  if (value.size() <= kLength || value[kSecondDigits] != '.' || value.find('"') != kLength) {
    return TakeMember(kTimeMember, line, time);
  }
  time = value.substr(0, kLength);
  line.remove_prefix(std::min(kTimeMember.size() + kLength + 2, line.size()));
  return true;
}

}  // namespace

bool ReadCommon(std::string_view line, Entry& common, std::string_view& time) {
  const std::pair<std::string_view, std::string*> members[] = {
      {"\"severity\":\"", &common.severity},
      {"\"task\":\"", &common.task},
      {"\"trial\":\"", &common.trial}};
  if (!line.starts_with('{')) return false;
  line.remove_prefix(1);
  if (line.starts_with(kTimeMember) && !TakeTime(line, time)) return false;
  if (line.starts_with("\"message\"")) return true;  // the usual case
  for (const auto& [name, member] : members) {
    if (!line.starts_with(name)) continue;
    std::string_view value;
    if (!TakeMember(name, line, value)) return false;
    member->assign(value);
  }
  return true;
}

bool ReadEntry(std::string_view line, const Entry* previous, Entry& entry) {
  const Result<Json> json = ParseJson(line);
  if (!json.ok() || !json->is_object()) return false;
  const Entry none;
  const Entry& before = previous ? *previous : none;
  entry.timestamp = before.timestamp;
  if (!previous || Member(*json, "time")) {
    const auto time = ParseRfc3339(StringOr(*json, "time"));
    if (!time) return false;
    entry.timestamp = *time;
  }
  entry.severity = StringOr(*json, "severity", before.severity);
  entry.task = StringOr(*json, "task", before.task);
  entry.trial = StringOr(*json, "trial", before.trial);
  entry.message = StringOr(*json, "message");
  entry.pathname = StringOr(*json, "pathname");
  entry.lineno = static_cast<int>(IntOr(*json, "lineno", 0));
  entry.thread = StringOr(*json, "thread");
  entry.form = EntryFormNamed(StringOr(*json, "form"));
  return true;
}

}  // namespace caip::logging
