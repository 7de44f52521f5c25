#include "harness/explorer/crash_point.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"

namespace caip::harness {
namespace {

// A move adds one object and removes another.
size_t CountChanges(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  if (!operation || operation->failed) return 0;
  if (operation->op == "read" || operation->op == "list") return 0;
  return operation->op == "move" ? 2 : 1;
}

// A regular expression that matches exactly this line.
std::string Escaped(const std::string& line) {
  std::string regex = "^";
  for (const char c : line) {
    if (std::string_view("\\.^$|()[]{}*+?").find(c) != std::string_view::npos) regex += '\\';
    regex += c;
  }
  return regex + "$";
}

/// Numbers equal points.
class Numbering {
 public:
  int64_t Next(const CrashPoint& point) {
    return ++counts_[point.replica + "\n" + std::to_string(static_cast<int>(point.kind)) +
                     point.op + "\n" + point.text + "\n" + std::to_string(point.step)];
  }

 private:
  std::map<std::string, int64_t> counts_;
};

const char* SelectionWord(CrashPoint::Kind kind) {
  switch (kind) {
    case CrashPoint::Kind::kStorage:
      return "storage";
    case CrashPoint::Kind::kDisk:
      return "disk";
    case CrashPoint::Kind::kStep:
      return "steps";
    case CrashPoint::Kind::kLog:
      return "logs";
    case CrashPoint::Kind::kBoot:
      return "states";
  }
  return "";
}

// The point after the event; nullopt for events that are not points.
std::optional<CrashPoint> PointAfter(const Event& event) {
  CrashPoint point;
  point.replica = event.replica;
  if (const StorageEvent* operation = FindOperation(event)) {
    if (event.Is<DiskEvent>()) point.kind = CrashPoint::Kind::kDisk;
    point.op = operation->op;
    point.text = operation->object;
  } else if (const auto* step = event.As<StepEvent>()) {
    point.kind = CrashPoint::Kind::kStep;
    point.step = step->step;
  } else if (const auto* log = event.As<LogEvent>()) {
    point.kind = CrashPoint::Kind::kLog;
    point.text = log->message;
  } else if (event.Is<LiveEvent>()) {
    point.kind = CrashPoint::Kind::kBoot;
  } else {
    return std::nullopt;
  }
  return point;
}

bool IsOfVolume(const StorageEvent& operation) { return operation.object.starts_with("/"); }

// The points before the operation takes effect.
void AddPointsBefore(const StorageEvent& operation, CrashPoint before, bool torn_writes,
                     std::vector<CrashPoint>& points) {
  before.before = true;
  points.push_back(before);
  const bool writes = operation.op == "create" || operation.op == "overwrite";
  const bool can_be_torn = torn_writes || IsOfVolume(operation);
  if (!can_be_torn || !writes || operation.bytes <= 1) return;
  before.mid_bytes = operation.bytes / 2;
  points.push_back(std::move(before));
}

}  // namespace

std::vector<CrashPoint> FindCrashPoints(const Evidence& run, const PointSelection& selection) {
  std::vector<CrashPoint> points;
  Numbering numbering;
  size_t changes = 0;
  for (size_t i = 0; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    const StorageEvent* operation = FindOperation(event);
    std::optional<CrashPoint> point = PointAfter(event);
    if (point) point->nth = numbering.Next(*point);
    const bool selected =
        point && selection.kinds.contains(SelectionWord(point->kind)) &&
        (selection.replicas.empty() || selection.replicas.contains(event.replica));
    const bool wanted = selected && event.replica != "service" && !(operation && operation->failed);
    if (wanted && operation) {
      CrashPoint before = *point;
      before.events = i;
      before.changes = changes;
      AddPointsBefore(*operation, std::move(before), selection.torn_writes, points);
    }
    changes += CountChanges(event);
    if (!wanted) continue;
    point->events = i + 1;
    point->changes = changes;
    points.push_back(*std::move(point));
  }
  return points;
}

std::string Describe(const CrashPoint& point) {
  const std::string nth = point.nth > 1 ? " (time " + std::to_string(point.nth) + ")" : "";
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      if (point.mid_bytes > 0) {
        return "after " + std::to_string(point.mid_bytes) + " bytes of " + point.op + " " +
               point.text + nth + " by " + point.replica;
      }
      return std::string(point.before ? "before " : "after ") + point.op + " " + point.text + nth +
             " by " + point.replica;
    case CrashPoint::Kind::kStep:
      return "after step " + std::to_string(point.step) + nth + " of " + point.replica;
    case CrashPoint::Kind::kLog:
      return "after '" + point.text.substr(0, 60) + "'" + nth + " of " + point.replica;
    default:
      return "at boot " + std::to_string(point.nth) + " of " + point.replica;
  }
}

size_t CountChanges(const std::vector<Event>& list, size_t events) {
  size_t changes = 0;
  for (size_t i = 0; i < std::min(events, list.size()); ++i) changes += CountChanges(list[i]);
  return changes;
}

std::string YamlQuoted(const std::string& text) { return CompactJson(Json(text)); }

std::string WhenText(const CrashPoint& point) {
  const std::string nth = point.nth > 1 ? ", nth: " + std::to_string(point.nth) : "";
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      if (point.mid_bytes > 0) {
        return "{mid: {" + point.op + ": " + YamlQuoted(point.text) +
               ", bytes: " + std::to_string(point.mid_bytes) + "}" + nth + "}";
      }
      return std::string("{") + (point.before ? "before" : "after") + ": {" + point.op + ": " +
             YamlQuoted(point.text) + "}" + nth + "}";
    case CrashPoint::Kind::kStep:
      return "{step: " + std::to_string(point.step) + nth + "}";
    case CrashPoint::Kind::kLog:
      return "{log: " + YamlQuoted(Escaped(point.text)) + nth + "}";
    default:
      return "{start: " + std::to_string(point.nth) + "}";
  }
}

Trigger MakeTrigger(const CrashPoint& point) {
  Trigger trigger;
  trigger.nth = {point.nth, point.nth, 0};
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      trigger.kind = StorageTrigger{point.mid_bytes > 0 ? Phase::kMid
                                    : point.before      ? Phase::kBefore
                                                        : Phase::kAfter,
                                    point.op, point.text, point.mid_bytes};
      break;
    case CrashPoint::Kind::kStep:
      trigger.kind = StepTrigger{point.step};
      break;
    case CrashPoint::Kind::kLog:
      trigger.kind = LogTrigger{Escaped(point.text)};
      break;
    default:
      trigger.kind = BootTrigger{point.nth};  // each boot comes once
      trigger.nth = {};
  }
  return trigger;
}

}  // namespace caip::harness
