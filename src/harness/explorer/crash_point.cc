#include "harness/explorer/crash_point.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"

namespace caip::harness {
namespace {

bool IsOfVolume(const StorageEvent& operation) { return operation.object.starts_with("/"); }

// A move adds one object and removes another.
size_t CountChanges(const Event& event) {
  const auto* operation = event.As<StorageEvent>();
  if (!operation || operation->failed || IsOfVolume(*operation)) return 0;
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
  /// `operation` may be null. Triggers also count those that lead to the object.
  int64_t Next(const CrashPoint& point, const StorageEvent* operation) {
    const uint64_t bytes = operation ? operation->bytes : 0;
    if (operation && !operation->from.empty() && operation->from != operation->object) {
      CrashPoint other = point;
      other.text = operation->from;
      bytes_[NameOf(other)].push_back(bytes);
    }
    std::vector<uint64_t>& known = bytes_[NameOf(point)];
    known.push_back(bytes);
    return static_cast<int64_t>(known.size());
  }
  /// The number of the last point among those whose files became at least so long: triggers in the
  /// middle count no others.
  int64_t CountLongEnough(const CrashPoint& point, uint64_t bytes) const {
    return std::ranges::count_if(bytes_.at(NameOf(point)),
                                 [bytes](uint64_t other) { return other >= bytes; });
  }

 private:
  static std::string NameOf(const CrashPoint& point) {
    return point.replica + "\n" + std::to_string(static_cast<int>(point.kind)) + point.op + "\n" +
           point.text + "\n" + std::to_string(point.step);
  }
  std::map<std::string, std::vector<uint64_t>> bytes_;
};

/// Numbers the points of a run as triggers count.
class PointNumbers {
 public:
  explicit PointNumbers(const ChangingNames& changing) : changing_(changing) {}

  void Number(CrashPoint& point, const StorageEvent* operation) {
    point.nth = by_name_.Next(point, operation);
    if (!operation || changing_.empty()) return;
    operations_[KindOf(point)].push_back(operation);
    point.glob = changing_.GlobOf(point.text);
    if (!point.glob.empty()) point.glob_nth = CountMatches(point, 0);
  }
  /// The point in the middle of its file, after so many bytes.
  void NumberMiddle(CrashPoint& point, uint64_t bytes) const {
    point.mid = bytes;
    point.nth = by_name_.CountLongEnough(point, bytes);
    if (!point.glob.empty()) point.glob_nth = CountMatches(point, bytes);
  }

 private:
  static std::string KindOf(const CrashPoint& point) {
    return point.replica + "\n" + std::to_string(static_cast<int>(point.kind)) + point.op;
  }
  // Of the operations so far, all that a trigger with the glob counts.
  int64_t CountMatches(const CrashPoint& point, uint64_t bytes) const {
    return std::ranges::count_if(operations_.at(KindOf(point)), [&](const StorageEvent* other) {
      const bool is_it = GlobMatches(point.glob, other->object) ||
                         (!other->from.empty() && GlobMatches(point.glob, other->from));
      return is_it && other->bytes >= bytes;
    });
  }

  const ChangingNames& changing_;
  Numbering by_name_;
  std::map<std::string, std::vector<const StorageEvent*>> operations_;
};

// Among those that the trigger of the point counts.
int64_t NumberOf(const CrashPoint& point) {
  return point.glob.empty() ? point.nth : point.glob_nth;
}

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

// The moments at which a file is not complete.
std::vector<WrittenPiece> MiddlesOf(const StorageEvent& operation, bool every_write) {
  const bool writes = operation.op == "create" || operation.op == "overwrite";
  if (!writes || operation.bytes == 0 || operation.pieces.empty()) return {};
  std::vector<WrittenPiece> middles;
  uint64_t begin = 0;
  for (const auto& [end, acts] : operation.pieces) {
    if (end - begin > 1) middles.push_back({begin + (end - begin) / 2, acts});
    if (end < operation.bytes) middles.push_back({end, acts});
    begin = end;
  }
  if (every_write) return middles;
  // Only the opening, and half of the bytes.
  const uint64_t half = operation.bytes / 2;
  const auto at = std::ranges::find_if(operation.pieces,
                                       [half](const auto& piece) { return piece.bytes >= half; });
  std::vector<WrittenPiece> few = {operation.pieces.front()};
  if (half > 0) few.push_back({half, at->acts});
  return few;
}

/// The events of a run, by the number of acts before them.
class Acts {
 public:
  explicit Acts(const std::vector<Event>& events) {
    for (const Event& event : events) {
      before_.push_back(acts_);
      acts_ += IsAct(event) ? 1 : 0;
    }
  }
  /// The number of events before the moment that follows so many acts.
  size_t EventsBefore(size_t acts) const {
    return static_cast<size_t>(std::ranges::lower_bound(before_, acts) - before_.begin());
  }

 private:
  std::vector<size_t> before_;
  size_t acts_ = 0;
};

// The points before the operation has its whole effect. A program changes mapped bytes without an
// operation that could be held.
void AddPointsBefore(const StorageEvent& operation, CrashPoint before,
                     const PointSelection& selection, const PointNumbers& numbers, const Acts& acts,
                     std::vector<CrashPoint>& points) {
  if (operation.is_mapped) return;
  const size_t end = before.events;
  const auto events_before = [&](const WrittenPiece& piece) {
    return std::min(end, acts.EventsBefore(piece.acts));
  };
  before.before = true;
  if (!operation.pieces.empty()) before.events = events_before(operation.pieces.front());
  points.push_back(before);
  if (!selection.torn_writes && !IsOfVolume(operation)) return;
  for (const WrittenPiece& middle : MiddlesOf(operation, selection.every_write)) {
    numbers.NumberMiddle(before, middle.bytes);
    before.events = events_before(middle);
    points.push_back(before);
  }
}

}  // namespace

std::vector<CrashPoint> FindCrashPoints(const Evidence& run, const PointSelection& selection) {
  std::vector<CrashPoint> points;
  PointNumbers numbers(selection.changing);
  const Acts acts(run.events);
  size_t changes = 0;
  for (size_t i = 0; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    const StorageEvent* operation = FindOperation(event);
    std::optional<CrashPoint> point = PointAfter(event);
    if (point) numbers.Number(*point, operation);
    const bool selected =
        point && selection.kinds.contains(SelectionWord(point->kind)) &&
        (selection.replicas.empty() || selection.replicas.contains(event.replica));
    const bool wanted = selected && event.replica != "service" && !(operation && operation->failed);
    if (wanted && operation) {
      CrashPoint before = *point;
      before.events = i;
      before.changes = changes;
      AddPointsBefore(*operation, std::move(before), selection, numbers, acts, points);
    }
    changes += CountChanges(event);
    if (!wanted) continue;
    point->events = i + 1;
    point->changes = changes;
    points.push_back(*std::move(point));
  }
  // A file may be open for long.
  std::ranges::stable_sort(points, {}, &CrashPoint::events);
  return points;
}

const std::string& TextOf(const CrashPoint& point) {
  return point.glob.empty() ? point.text : point.glob;
}

std::string Describe(const CrashPoint& point) {
  const int64_t number = NumberOf(point);
  const std::string nth = number > 1 ? " (time " + std::to_string(number) + ")" : "";
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      if (point.mid) {
        return "after " + std::to_string(*point.mid) + " bytes of " + point.op + " " +
               TextOf(point) + nth + " by " + point.replica;
      }
      return std::string(point.before ? "before " : "after ") + point.op + " " + TextOf(point) +
             nth + " by " + point.replica;
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
  const int64_t number = NumberOf(point);
  const std::string nth = number > 1 ? ", nth: " + std::to_string(number) : "";
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      if (point.mid) {
        return "{mid: {" + point.op + ": " + YamlQuoted(TextOf(point)) +
               ", bytes: " + std::to_string(*point.mid) + "}" + nth + "}";
      }
      return std::string("{") + (point.before ? "before" : "after") + ": {" + point.op + ": " +
             YamlQuoted(TextOf(point)) + "}" + nth + "}";
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
  trigger.nth = {NumberOf(point), NumberOf(point), 0};
  switch (point.kind) {
    case CrashPoint::Kind::kStorage:
    case CrashPoint::Kind::kDisk:
      trigger.kind = StorageTrigger{point.mid      ? Phase::kMid
                                    : point.before ? Phase::kBefore
                                                   : Phase::kAfter,
                                    point.op, TextOf(point), point.mid.value_or(0)};
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

CrashPoint PointInRun(CrashPoint point, std::string_view fault, const std::vector<Event>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    const auto* injected = list[i].As<FaultEvent>();
    if (!injected || injected->fault != fault) continue;
    point.events = i;
    break;
  }
  return point;
}

}  // namespace caip::harness
