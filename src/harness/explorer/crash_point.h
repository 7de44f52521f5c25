#pragma once
// The points of a baseline run at which a machine could go away.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/events/event.h"
#include "harness/expectations/expectation.h"
#include "harness/explorer/changing_names.h"
#include "harness/faults/trigger.h"

namespace caip::harness {

/// A point with a name (replica, kind, object, occurrence) that is the same in another run.
struct CrashPoint {
  enum class Kind { kStorage, kDisk, kLog, kStep, kBoot };
  std::string replica;
  Kind kind = Kind::kStorage;
  bool before = false;  // before a storage operation; false: after it
  std::string op = {};
  std::string text = {};  // the object, "disk:" and the file, or the line
  int64_t step = 0;
  std::optional<uint64_t> mid = {};  // while a file is written: after so many of its new bytes
  int64_t nth = 1;                   // the number among equal points of this replica
  std::string glob = {};             // matches `text` and what it is in other runs; "": the same
  int64_t glob_nth = 1;              // the number among points with that glob
  size_t events = 0;                 // the number of events before it
  size_t changes = 0;                // the number of changes of buckets before it

  auto operator<=>(const CrashPoint&) const = default;
};

/// The selected points. The kinds are "storage", "disk" (writes to the replica's own disk),
/// "steps", "logs" and "states" (boots).
struct PointSelection {
  std::set<std::string> kinds = {"storage"};
  std::set<std::string> replicas;  // empty: all
  bool torn_writes = false;        // also points in the middle of a write to a directory or a disk
  bool every_write = false;     // those: after and in each write, not only in the middle of a file
  ChangingNames changing = {};  // names that points have in other runs
};

/// The crash points in the order of the run. `run` has succeeded without a fault.
std::vector<CrashPoint> FindCrashPoints(const Evidence& run, const PointSelection& selection);

/// What the names of the point in all runs have in common: its glob, or its text.
const std::string& TextOf(const CrashPoint& point);
/// "before create job/out/ckpt-20/optim by master-0".
std::string Describe(const CrashPoint& point);
/// The text of a scenario's `when`, as flow YAML: `{before: {create: "job/out/x"}, nth: 2}`.
std::string WhenText(const CrashPoint& point);
/// The same trigger as a value.
Trigger MakeTrigger(const CrashPoint& point);

/// The point with its number of events in another run, where the fault of this name was injected at
/// it. The replicas of a cluster do not have the same order in each run. A run without that fault
/// begins with the events of the first run.
CrashPoint PointInRun(CrashPoint point, std::string_view fault, const std::vector<Event>& list);

/// How many of the first `events` events changed the objects of buckets.
size_t CountChanges(const std::vector<Event>& list, size_t events);

/// A text as YAML in double quotes.
std::string YamlQuoted(const std::string& text);

}  // namespace caip::harness
