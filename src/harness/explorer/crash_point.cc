#include "harness/explorer/crash_point.h"

#include <algorithm>
#include <map>

#include "base/json.h"

namespace caip::harness {
namespace {

bool IsChange(const Happening& h) {
  return h.kind == Happening::Kind::kStorage && !h.failed && h.op != "read" && h.op != "list";
}

// A regular expression that finds exactly this line.
std::string Escaped(const std::string& line) {
  std::string regex = "^";
  for (const char c : line) {
    if (std::string_view("\\.^$|()[]{}*+?").find(c) != std::string_view::npos) regex += '\\';
    regex += c;
  }
  return regex + "$";
}

/// Counts equals, so that each has its number.
class Numbering {
 public:
  int64_t Next(const CrashPoint& point) {
    return ++counts_[point.replica + "\n" + std::to_string(static_cast<int>(point.kind)) +
                     point.op + "\n" + point.text + "\n" + std::to_string(point.step)];
  }

 private:
  std::map<std::string, int64_t> counts_;
};

// A move puts one object there and takes another away.
size_t ChangesOf(const Happening& h) {
  if (!IsChange(h)) return 0;
  return h.op == "move" ? 2 : 1;
}

std::string WordOf(Happening::Kind kind) {
  if (kind == Happening::Kind::kStorage) return "storage";
  if (kind == Happening::Kind::kStep) return "steps";
  return kind == Happening::Kind::kLog ? "logs" : "states";
}

CrashPoint PointAt(const Happening& h) {
  CrashPoint point;
  point.replica = h.replica;
  point.kind = h.kind;
  point.op = h.op;
  point.text = h.kind == Happening::Kind::kStorage ? h.object
               : h.kind == Happening::Kind::kLog   ? h.text
                                                   : "";
  point.step = h.kind == Happening::Kind::kStep ? h.step : 0;
  return point;
}

}  // namespace

std::vector<CrashPoint> PointsOf(const Evidence& run, const PointSelection& selection) {
  std::vector<CrashPoint> points;
  Numbering numbering;
  size_t changes = 0;
  for (size_t i = 0; i < run.happenings.size(); ++i) {
    const Happening& h = run.happenings[i];
    const bool kind = h.kind == Happening::Kind::kStorage || h.kind == Happening::Kind::kStep ||
                      h.kind == Happening::Kind::kLog || h.kind == Happening::Kind::kLive;
    const bool whose = selection.replicas.empty() || selection.replicas.contains(h.replica);
    const bool wanted = kind && whose && h.replica != "service" && !h.failed &&
                        selection.kinds.contains(WordOf(h.kind));
    CrashPoint point = PointAt(h);
    if (kind) point.nth = numbering.Next(point);
    if (wanted && h.kind == Happening::Kind::kStorage) {
      CrashPoint before = point;
      before.before = true;
      before.events = i;
      before.changes = changes;
      points.push_back(before);
      const bool writes = h.op == "create" || h.op == "overwrite";
      if (selection.torn_writes && writes && h.bytes > 1) {
        before.mid_bytes = h.bytes / 2;
        points.push_back(std::move(before));
      }
    }
    changes += ChangesOf(h);
    if (!wanted) continue;
    point.events = i + 1;
    point.changes = changes;
    points.push_back(std::move(point));
  }
  return points;
}

std::string Describe(const CrashPoint& point) {
  const std::string nth = point.nth > 1 ? " (time " + std::to_string(point.nth) + ")" : "";
  switch (point.kind) {
    case Happening::Kind::kStorage:
      if (point.mid_bytes > 0) {
        return "after " + std::to_string(point.mid_bytes) + " bytes of " + point.op + " " +
               point.text + nth + " by " + point.replica;
      }
      return std::string(point.before ? "before " : "after ") + point.op + " " + point.text + nth +
             " by " + point.replica;
    case Happening::Kind::kStep:
      return "after step " + std::to_string(point.step) + nth + " of " + point.replica;
    case Happening::Kind::kLog:
      return "after '" + point.text.substr(0, 60) + "'" + nth + " of " + point.replica;
    default:
      return "at boot " + std::to_string(point.nth) + " of " + point.replica;
  }
}

size_t ChangesIn(const std::vector<Happening>& happenings, size_t events) {
  size_t changes = 0;
  for (size_t i = 0; i < std::min(events, happenings.size()); ++i) {
    changes += ChangesOf(happenings[i]);
  }
  return changes;
}

std::string YamlQuoted(const std::string& text) { return CompactJson(Json(text)); }

std::string WhenText(const CrashPoint& point) {
  const std::string nth = point.nth > 1 ? ", nth: " + std::to_string(point.nth) : "";
  switch (point.kind) {
    case Happening::Kind::kStorage:
      if (point.mid_bytes > 0) {
        return "{mid: {" + point.op + ": " + YamlQuoted(point.text) +
               ", bytes: " + std::to_string(point.mid_bytes) + "}" + nth + "}";
      }
      return std::string("{") + (point.before ? "before" : "after") + ": {" + point.op + ": " +
             YamlQuoted(point.text) + "}" + nth + "}";
    case Happening::Kind::kStep:
      return "{step: " + std::to_string(point.step) + nth + "}";
    case Happening::Kind::kLog:
      return "{log: " + YamlQuoted(Escaped(point.text)) + nth + "}";
    default:
      return "{start: " + std::to_string(point.nth) + "}";
  }
}

Trigger TriggerOf(const CrashPoint& point) {
  Trigger trigger;
  trigger.nth = {point.nth, point.nth, 0};
  switch (point.kind) {
    case Happening::Kind::kStorage:
      trigger.phase = point.before ? Phase::kBefore : Phase::kAfter;
      if (point.mid_bytes > 0) trigger.phase = Phase::kMid;
      trigger.bytes = point.mid_bytes;
      trigger.op = point.op;
      trigger.pattern = point.text;
      break;
    case Happening::Kind::kStep:
      trigger.kind = Trigger::Kind::kStep;
      trigger.number = point.step;
      break;
    case Happening::Kind::kLog:
      trigger.kind = Trigger::Kind::kLog;
      trigger.pattern = Escaped(point.text);
      break;
    default:
      trigger.kind = Trigger::Kind::kStart;
      trigger.number = point.nth;  // a boot comes once
      trigger.nth = {};
  }
  return trigger;
}

}  // namespace caip::harness
