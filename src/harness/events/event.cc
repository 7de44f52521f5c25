#include "harness/events/event.h"

#include <array>
#include <string_view>

#include "base/text.h"
#include "base/time_text.h"

namespace caip::harness {
namespace {

constexpr std::array<std::string_view, 11> kKinds = {"state", "start",   "exit",   "storage",
                                                     "log",   "step",    "metric", "fault",
                                                     "live",  "prepare", "api"};

void AddFacts(const Happening& h, Json& json) {
  switch (h.kind) {
    case Happening::Kind::kState:
      json["state"] = h.text;
      break;
    case Happening::Kind::kStart:
      json["fresh_disk"] = h.fresh_disk;
      break;
    case Happening::Kind::kLive:
      break;
    case Happening::Kind::kExit:
      json["exit_code"] = h.exit_code;
      json["signal"] = h.signal;
      if (!h.detail.empty()) json["lost"] = h.detail;
      break;
    case Happening::Kind::kStorage:
      json["op"] = h.op;
      json["object"] = h.object;
      if (!h.detail.empty()) json["from"] = h.detail;
      if (h.bytes > 0) json["bytes"] = h.bytes;
      if (h.failed) json["failed"] = true;
      break;
    case Happening::Kind::kLog:
      json["severity"] = h.detail;
      json["message"] = h.text;
      break;
    case Happening::Kind::kMetric:
      json["tag"] = h.text;
      [[fallthrough]];
    case Happening::Kind::kStep:
      json["step"] = h.step;
      json["record"] = h.record;
      break;
    case Happening::Kind::kPrepare:
      json["attempt"] = h.step;
      break;
    case Happening::Kind::kApi:
      json["method"] = h.text;
      break;
    case Happening::Kind::kFault:
      json["fault"] = h.text;
      json["when"] = h.detail;
      break;
  }
}

}  // namespace

Json ToJson(const Happening& h, bool with_time) {
  Json json = {{"n", h.number}};
  if (with_time) json["time"] = Rfc3339(h.time, 6);
  json["kind"] = kKinds[static_cast<size_t>(h.kind)];
  if (!h.replica.empty()) json["replica"] = h.replica;
  if (h.boot > 0) json["boot"] = h.boot;
  AddFacts(h, json);
  return json;
}

Result<Happening> HappeningFromJson(const Json& json) {
  Happening h;
  const std::string kind = StringOr(json, "kind");
  size_t at = 0;
  while (at < kKinds.size() && kKinds[at] != kind) ++at;
  if (at == kKinds.size()) {
    return Error{Code::kInvalidArgument, "kind '" + kind + "' is none of an event list"};
  }
  h.kind = static_cast<Happening::Kind>(at);
  h.number = IntOr(json, "n", 0);
  h.time = ParseRfc3339(StringOr(json, "time")).value_or(Instant{});
  h.replica = StringOr(json, "replica");
  h.boot = static_cast<int>(IntOr(json, "boot", 0));
  for (const char* name : {"state", "message", "tag", "fault", "method"}) {
    if (Member(json, name)) h.text = StringOr(json, name);
  }
  for (const char* name : {"lost", "severity", "when", "from"}) {
    if (Member(json, name)) h.detail = StringOr(json, name);
  }
  h.op = StringOr(json, "op");
  h.object = StringOr(json, "object");
  h.bytes = static_cast<uint64_t>(IntOr(json, "bytes", 0));
  const Json* failed = Member(json, "failed");
  h.failed = failed && failed->is_boolean() && failed->get<bool>();
  h.step = IntOr(json, "step", IntOr(json, "attempt", 0));
  if (const Json* record = Member(json, "record")) h.record = *record;
  h.exit_code = static_cast<int>(IntOr(json, "exit_code", 0));
  h.signal = static_cast<int>(IntOr(json, "signal", 0));
  const Json* fresh = Member(json, "fresh_disk");
  h.fresh_disk = !fresh || !fresh->is_boolean() || fresh->get<bool>();
  return h;
}

std::string Describe(const Happening& h) {
  const std::string whose = h.replica.empty() ? "" : " of " + h.replica;
  switch (h.kind) {
    case Happening::Kind::kState:
      return "state " + h.text;
    case Happening::Kind::kStart:
      return "boot " + std::to_string(h.boot) + whose;
    case Happening::Kind::kLive:
      return "boot " + std::to_string(h.boot) + whose + " is up";
    case Happening::Kind::kExit:
      return "end of boot " + std::to_string(h.boot) + whose;
    case Happening::Kind::kStorage:
      return h.op + " " + h.object + (h.replica.empty() ? "" : " by " + h.replica);
    case Happening::Kind::kLog:
      return "log line '" + h.text.substr(0, 80) + "'" + whose;
    case Happening::Kind::kStep:
      return "step " + std::to_string(h.step) + whose;
    case Happening::Kind::kMetric:
      return "metric " + h.text + whose;
    case Happening::Kind::kPrepare:
      return "packages of attempt " + std::to_string(h.step);
    case Happening::Kind::kApi:
      return "call of " + h.text + whose;
    case Happening::Kind::kFault:
      return "fault " + h.text;
  }
  return "";
}

std::string ReplicaName(std::string task) { return ReplaceAll(std::move(task), "-replica-", "-"); }

std::string TaskNameOf(std::string replica) {
  const size_t dash = replica.rfind('-');
  return dash == std::string::npos
             ? replica
             : replica.substr(0, dash) + "-replica-" + replica.substr(dash + 1);
}

}  // namespace caip::harness
