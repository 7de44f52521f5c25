#pragma once
// Conditions that must hold after a run, and their results. A new kind of expectation is one
// function that reads it and one line in expectation.cc.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/events/event.h"
#include "harness/faults/fault_injector.h"
#include "harness/scenario/file_cursor.h"

namespace caip::harness {

/// An object at the end of a run.
struct FinalObject {
  std::string bytes;
  int64_t generation = 0;
};

/// A trial of a tuning job at its end.
struct FinalTrial {
  std::string state;
  std::vector<int64_t> steps;  // of its reports, in the order in which they were taken
};

/// The result of a run. Names of objects are "bucket/path".
/// What the service adds to the message of a failed job: a link to a log that is not here.
inline constexpr std::string_view kLogHint = "To find out more";

struct Evidence {
  std::vector<Event> events;
  std::vector<FaultTally> faults;
  std::string state;  // the job's state at its end
  std::string error_message;
  std::string broke_off;  // the limit that ended the run before the job; "": none
  /// The end of the same job when it was sent once more after it had failed; "": it was not.
  std::string once_more = {};
  std::map<std::string, FinalObject> objects;
  std::map<std::string, FinalObject> objects_before;
  std::map<std::string, FinalTrial> trials = {};  // by id, of a tuning job
  std::string best_trial = {};                    // the best trial with a metric; "": none
};

/// One comparison of an expectation.
struct Assertion {
  std::string name;  // "state", "first_step master-0 boot 2"
  std::string expected;
  std::string found;
  bool passed = false;
};

/// The runs that an expectation compares. `twin`: the run without faults; null if it was not made.
struct ComparedRuns {
  const Evidence& run;
  const Evidence* twin = nullptr;
};

/// Immutable; any thread.
class Expectation {
 public:
  virtual ~Expectation() = default;
  virtual std::vector<Assertion> Evaluate(const ComparedRuns& runs) const = 0;
  virtual bool needs_twin() const { return false; }
};
using ExpectationPtr = std::shared_ptr<const Expectation>;

struct ExpectationKind {
  std::string name;     // its key below `expect`
  std::string summary;  // for documentation and the schema
  /// Reports mistakes on the cursor. The result may then be null.
  ExpectationPtr (*read)(const Cursor& cursor);
};

const std::vector<ExpectationKind>& ExpectationKinds();
const ExpectationKind* FindExpectationKind(std::string_view name);

/// An expectation that calls a function.
ExpectationPtr Expect(std::function<std::vector<Assertion>(const ComparedRuns&)> evaluate,
                      bool needs_twin = false);

// expectations/job_outcome.cc
ExpectationPtr ReadState(const Cursor& cursor);
/// The expectation `state: STATE`, also for scenarios that do not state the end of their job.
ExpectationPtr ExpectState(const std::string& state);
ExpectationPtr ReadErrorMatches(const Cursor& cursor);
ExpectationPtr ReadRestarts(const Cursor& cursor);
ExpectationPtr ReadAttempts(const Cursor& cursor);
ExpectationPtr ReadTrials(const Cursor& cursor);
ExpectationPtr ReadStates(const Cursor& cursor);
ExpectationPtr ReadAt(const Cursor& cursor);
// expectations/steps_and_lines.cc
ExpectationPtr ReadFirstStep(const Cursor& cursor);
ExpectationPtr ReadNoSteps(const Cursor& cursor);
ExpectationPtr ReadSteps(const Cursor& cursor);
ExpectationPtr ReadStepsNeverGoBack(const Cursor& cursor);
ExpectationPtr ReadSameStepsAsTwin(const Cursor& cursor);
ExpectationPtr ReadLog(const Cursor& cursor);
// expectations/objects.cc
ExpectationPtr ReadObjects(const Cursor& cursor);
ExpectationPtr ReadObjectFields(const Cursor& cursor);
ExpectationPtr ReadSameObjectsAsTwin(const Cursor& cursor);
ExpectationPtr ReadWrites(const Cursor& cursor);
ExpectationPtr ReadWrittenOnce(const Cursor& cursor);
ExpectationPtr ReadReads(const Cursor& cursor);
// expectations/kept_output.cc
ExpectationPtr ReadOutputNeverGoesBack(const Cursor& cursor);
// expectations/always.cc
ExpectationPtr ReadAlways(const Cursor& cursor);

}  // namespace caip::harness
