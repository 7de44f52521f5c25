#pragma once
// The points of a baseline run at which a machine could go away.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/events/event.h"
#include "harness/expectations/expectation.h"
#include "harness/faults/trigger.h"

namespace caip::harness {

/// A point with a name (replica, kind, object, occurrence) that is the same in another run.
struct CrashPoint {
  enum class Kind { kStorage, kLog, kStep, kBoot };
  std::string replica;
  Kind kind = Kind::kStorage;
  bool before = false;  // of a storage operation; else after it
  std::string op = {};
  std::string text = {};  // object; line
  int64_t step = 0;
  uint64_t mid_bytes = 0;  // above 0: in the middle of writing a file, after so many bytes
  int64_t nth = 1;         // among equal points of this replica
  size_t events = 0;       // the number of events before it
  size_t changes = 0;      // the number of changes in storage before it

  auto operator<=>(const CrashPoint&) const = default;
};

/// The kinds of points that are wanted: "storage", "steps", "logs", "states" (boots).
struct PointSelection {
  std::set<std::string> kinds = {"storage"};
  std::set<std::string> replicas;  // empty: all
  bool torn_writes = false;        // where storage is a directory: files half written, too
};

/// In the order of the run. `run` has succeeded without a fault.
std::vector<CrashPoint> FindCrashPoints(const Evidence& run, const PointSelection& selection);

/// "before create job/out/ckpt-20/optim by master-0".
std::string Describe(const CrashPoint& point);
/// The lines of a scenario's `when`, as flow YAML: `{before: {create: "job/out/x"}, nth: 2}`.
std::string WhenText(const CrashPoint& point);
/// The same as a value.
Trigger MakeTrigger(const CrashPoint& point);

/// How many of the first `events` changed what is stored.
size_t CountChanges(const std::vector<Event>& list, size_t events);

/// A text as YAML in double quotes.
std::string YamlQuoted(const std::string& text);

}  // namespace caip::harness
