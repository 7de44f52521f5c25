#pragma once
// One line of a run's event list: an action of a replica, something that happened to it, or a
// decision of the service. Everything but `time` is the same in two runs of one scenario with one
// seed.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace caip::harness {

/// The job entered a state.
struct StateEvent {
  std::string state;
};
/// A boot of the replica was launched.
struct StartEvent {
  bool fresh_disk = true;
};
/// The boot is up.
struct LiveEvent {};
/// The boot ended.
struct ExitEvent {
  int exit_code = 0;
  int signal = 0;
  std::string lost = {};  // why the machine was lost or nothing could be started; "": neither
};
/// A moment in the life of an open file, whose event comes when it is closed.
struct WrittenPiece {
  uint64_t bytes = 0;  // written until then
  size_t acts = 0;     // events before it that are acts (IsAct)
};
/// An operation of storage.
struct StorageEvent {
  /// create overwrite copy move delete read list; of files also write close rename truncate link
  /// symlink mkdir
  std::string op = {};
  std::string object = {};  // "bucket/path"; for `list` the prefix
  /// The source of a copy or move; the new name of a rename; what a link leads to.
  std::string from = {};
  uint64_t bytes = 0;
  bool failed = false;
  bool is_unanswered = false;  // the process ends with the operation and gets no answer
  bool is_mapped = false;      // the program changed the bytes without an operation
  /// create, overwrite of a file: its opening and each write to it. Not in the file of an event
  /// list.
  std::vector<WrittenPiece> pieces = {};
};
/// The same with a file of the replica's own disk. `object` is kDiskPrefix and the path on the
/// disk.
struct DiskEvent : StorageEvent {};
/// Begins the names of files on a replica's own disk: "disk:root/last.ckpt". No bucket has such a
/// name.
inline constexpr std::string_view kDiskPrefix = "disk:";

/// A line that a replica or the service printed.
struct LogEvent {
  std::string message;
  std::string severity = {};
};
/// A line that reports a step.
struct StepEvent {
  int64_t step = 0;
  Json record = {};       // the trainer's report
  std::string line = {};  // as printed; not in the file of an event list
};
/// A trial reported a metric.
struct MetricEvent {
  std::string tag;
  int64_t step = 0;
  Json record = {};
};
/// A fault was injected.
struct FaultEvent {
  std::string fault;  // its name
  std::string when;   // a description of the trigger
};
/// The packages of an attempt are installed.
struct PrepareEvent {
  int64_t attempt = 0;
};
/// A call of the job API.
struct ApiCallEvent {
  std::string method;
};

struct Event {
  /// In the order of the kinds' names in event.cc.
  using Body =
      std::variant<StateEvent, StartEvent, ExitEvent, StorageEvent, LogEvent, StepEvent,
                   MetricEvent, FaultEvent, LiveEvent, PrepareEvent, ApiCallEvent, DiskEvent>;

  int64_t number = 0;        // from 1, in the order of the list
  Instant time{};            // the service's clock
  std::string replica = {};  // "master-0"; "service"; "" for the job itself
  int boot = 0;              // of the replica, from 1
  Body body = StateEvent{};

  /// The body if it is of that kind, else null.
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&body);
  }
  template <typename Kind>
  bool Is() const {
    return std::holds_alternative<Kind>(body);
  }
};

/// The event's kind in an event list: "storage".
std::string_view KindName(const Event& event);

/// The line's object. `with_time`: includes the time.
Json ToJson(const Event& event, bool with_time = true);
Result<Event> EventFromJson(const Json& json);

/// A short description for reports: "create job/out/ckpt-10/weights by master-0".
std::string Describe(const Event& event);

/// The line that the replica or the service printed; null for events that are not lines.
const std::string* FindPrintedLine(const Event& event);

/// The operation of a StorageEvent or DiskEvent; null for all other events.
const StorageEvent* FindOperation(const Event& event);

/// The operation, if it took effect and left an object (create, overwrite, copy, move). Null for
/// all other events.
const StorageEvent* FindWrite(const Event& event);
/// Whether FindWrite finds an operation.
inline bool IsWrite(const Event& event) { return FindWrite(event) != nullptr; }

/// Whether it is an act of a replica or of its machine, not a decision of the service. Changes of
/// a replica's own disk do not count.
bool IsAct(const Event& event);

/// Whether the event counts as progress for limits.no_progress: a step, a change in storage, a
/// start or an end. A run that only prints, reads, lists, writes to its own disk or has its writes
/// refused (a lock that was left) makes no progress.
bool IsProgress(const Event& event);

/// Whether the boot ended by itself with exit code 0.
bool EndedWell(const ExitEvent& exit);

}  // namespace caip::harness
