#pragma once
// How a run is compared with its twin: which fields and objects count, and which values are equal.
// The expectations same_steps_as_twin and same_objects_as_twin configure it. The explorer uses it,
// too.

#include <set>
#include <string>
#include <vector>

#include "harness/scenario/file_cursor.h"

namespace caip::harness {

struct StepComparison {
  std::set<std::string> fields;    // empty: all except `attempt` and `boot`
  std::set<std::string> replicas;  // empty: all that report steps
  double tolerance = 0;            // for numbers

  bool Compares(const std::string& field) const;
  bool ComparesReplica(const std::string& replica) const;
  bool Equal(const Json& a, const Json& b) const;
};

struct ObjectComparison {
  std::vector<std::string> globs = {"*"};
  std::vector<std::string> except = {};
  double json_tolerance = 0;  // above 0: objects that are JSON are compared number by number

  bool Compares(const std::string& object) const;
  bool Equal(const std::string& a, const std::string& b) const;
};

struct TwinComparison {
  StepComparison steps;
  ObjectComparison objects;
};

/// Reads `true` or a mapping. Mistakes are reported on the cursor.
StepComparison ReadStepComparison(const Cursor& cursor);
ObjectComparison ReadObjectComparison(const Cursor& cursor);

/// Whether the values are equal, except for numbers that differ by at most `tolerance`.
bool SameJson(const Json& a, const Json& b, double tolerance);

}  // namespace caip::harness
