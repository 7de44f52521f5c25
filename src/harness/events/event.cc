#include "harness/events/event.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/time_text.h"
#include "harness/errors.h"

namespace caip::harness {
namespace {

// In the order of Event::Body.
constexpr std::array<std::string_view, std::variant_size_v<Event::Body>> kEventKinds = {
    "state",  "start", "exit", "storage", "log", "step",
    "metric", "fault", "live", "prepare", "api", "disk"};

/// Adds the fields of a kind to a line.
struct FieldWriter {
  Json& json;

  void operator()(const StateEvent& e) const { json["state"] = e.state; }
  void operator()(const StartEvent& e) const { json["fresh_disk"] = e.fresh_disk; }
  void operator()(const LiveEvent&) const {}
  void operator()(const ExitEvent& e) const {
    json["exit_code"] = e.exit_code;
    json["signal"] = e.signal;
    if (!e.lost.empty()) json["lost"] = e.lost;
  }
  void operator()(const StorageEvent& e) const {
    json["op"] = e.op;
    json["object"] = e.object;
    if (!e.from.empty()) json["from"] = e.from;
    if (e.bytes > 0) json["bytes"] = e.bytes;
    if (e.failed) json["failed"] = true;
  }
  void operator()(const LogEvent& e) const {
    json["severity"] = e.severity;
    json["message"] = e.message;
  }
  void operator()(const StepEvent& e) const {
    json["step"] = e.step;
    json["record"] = e.record;
  }
  void operator()(const MetricEvent& e) const {
    json["tag"] = e.tag;
    json["step"] = e.step;
    json["record"] = e.record;
  }
  void operator()(const FaultEvent& e) const {
    json["fault"] = e.fault;
    json["when"] = e.when;
  }
  void operator()(const PrepareEvent& e) const { json["attempt"] = e.attempt; }
  void operator()(const ApiCallEvent& e) const { json["method"] = e.method; }
};

Json RecordIn(const Json& json) {
  const Json* record = Member(json, "record");
  return record ? *record : Json();
}

StorageEvent ReadStorageEvent(const Json& json) {
  StorageEvent event;
  event.op = StringOr(json, "op");
  event.object = StringOr(json, "object");
  event.from = StringOr(json, "from");
  event.bytes = static_cast<uint64_t>(IntOr(json, "bytes", 0));
  event.failed = IsTrue(json, "failed");
  return event;
}

StartEvent ReadStartEvent(const Json& json) {
  const Json* fresh = Member(json, "fresh_disk");
  return {!fresh || !fresh->is_boolean() || fresh->get<bool>()};
}

ExitEvent ReadExitEvent(const Json& json) {
  return {static_cast<int>(IntOr(json, "exit_code", 0)), static_cast<int>(IntOr(json, "signal", 0)),
          StringOr(json, "lost")};
}

std::optional<Event::Body> ReadBody(std::string_view kind, const Json& json) {
  if (kind == "state") return StateEvent{StringOr(json, "state")};
  if (kind == "start") return ReadStartEvent(json);
  if (kind == "live") return LiveEvent{};
  if (kind == "exit") return ReadExitEvent(json);
  if (kind == "storage") return ReadStorageEvent(json);
  if (kind == "disk") return DiskEvent{ReadStorageEvent(json)};
  if (kind == "log") return LogEvent{StringOr(json, "message"), StringOr(json, "severity")};
  if (kind == "step") return StepEvent{IntOr(json, "step", 0), RecordIn(json)};
  if (kind == "metric") {
    return MetricEvent{StringOr(json, "tag"), IntOr(json, "step", 0), RecordIn(json)};
  }
  if (kind == "fault") return FaultEvent{StringOr(json, "fault"), StringOr(json, "when")};
  if (kind == "prepare") return PrepareEvent{IntOr(json, "attempt", 0)};
  if (kind == "api") return ApiCallEvent{StringOr(json, "method")};
  return std::nullopt;
}

struct EventDescriber {
  const Event& event;
  const std::string of = event.replica.empty() ? "" : " of " + event.replica;
  const std::string boot = "boot " + std::to_string(event.boot) + of;

  std::string operator()(const StateEvent& e) const { return "state " + e.state; }
  std::string operator()(const StartEvent&) const { return boot; }
  std::string operator()(const LiveEvent&) const { return boot + " is up"; }
  std::string operator()(const ExitEvent&) const { return "end of " + boot; }
  std::string operator()(const StorageEvent& e) const {
    return e.op + " " + e.object + (event.replica.empty() ? "" : " by " + event.replica);
  }
  std::string operator()(const LogEvent& e) const {
    return "log line '" + e.message.substr(0, 80) + "'" + of;
  }
  std::string operator()(const StepEvent& e) const { return "step " + std::to_string(e.step) + of; }
  std::string operator()(const MetricEvent& e) const { return "metric " + e.tag + of; }
  std::string operator()(const PrepareEvent& e) const {
    return "packages of attempt " + std::to_string(e.attempt);
  }
  std::string operator()(const ApiCallEvent& e) const { return "call of " + e.method + of; }
  std::string operator()(const FaultEvent& e) const { return "fault " + e.fault; }
};

}  // namespace

std::string_view KindName(const Event& event) { return kEventKinds[event.body.index()]; }

Json ToJson(const Event& event, bool with_time) {
  Json json = {{"n", event.number}};
  if (with_time) json["time"] = Rfc3339(event.time, 6);
  json["kind"] = kEventKinds[event.body.index()];
  if (!event.replica.empty()) json["replica"] = event.replica;
  if (event.boot > 0) json["boot"] = event.boot;
  std::visit(FieldWriter{json}, event.body);
  return json;
}

Result<Event> EventFromJson(const Json& json) {
  const std::string kind = StringOr(json, "kind");
  std::optional<Event::Body> body = ReadBody(kind, json);
  if (!body) return errors::UnknownEventKind(kind);
  Event event;
  event.number = IntOr(json, "n", 0);
  event.time = ParseRfc3339(StringOr(json, "time")).value_or(Instant{});
  event.replica = StringOr(json, "replica");
  event.boot = static_cast<int>(IntOr(json, "boot", 0));
  event.body = *std::move(body);
  return event;
}

std::string Describe(const Event& event) { return std::visit(EventDescriber{event}, event.body); }

const std::string* FindPrintedLine(const Event& event) {
  if (const auto* log = event.As<LogEvent>()) return &log->message;
  const auto* step = event.As<StepEvent>();
  return step ? &step->line : nullptr;
}

const StorageEvent* FindOperation(const Event& event) {
  if (const auto* disk = event.As<DiskEvent>()) return disk;
  return event.As<StorageEvent>();
}

const StorageEvent* FindWrite(const Event& event) {
  const auto* storage = event.As<StorageEvent>();
  if (!storage || storage->failed) return nullptr;
  const std::string& op = storage->op;
  constexpr std::string_view kWrites[] = {"create", "overwrite", "copy",    "move",
                                          "link",   "symlink",   "truncate"};
  return std::ranges::find(kWrites, op) != std::end(kWrites) ? storage : nullptr;
}

bool IsAct(const Event& event) {
  return !event.replica.empty() && event.replica != "service" && !event.Is<DiskEvent>();
}

bool IsProgress(const Event& event) {
  if (event.Is<LogEvent>() || event.Is<DiskEvent>()) return false;
  const auto* storage = event.As<StorageEvent>();
  return !storage || (!storage->failed && storage->op != "read" && storage->op != "list");
}

bool EndedWell(const ExitEvent& exit) {
  return exit.exit_code == 0 && exit.signal == 0 && exit.lost.empty();
}

}  // namespace caip::harness
