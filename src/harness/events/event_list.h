#pragma once
// Reads an event list that `caip scenario run --events` wrote.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/events/event.h"
#include "harness/expectations/expectation.h"

namespace caip::harness {

/// A run as its event list describes it. Immutable once read.
struct EventList {
  std::string file;  // the scenario
  std::string description;
  uint64_t seed = 1;
  std::string semantics;  // "object" or "posix"
  std::vector<Event> events;

  bool judged = false;  // the list has a verdict; false: the members below are empty
  bool passed = false;
  std::string state;  // the job's state at its end
  std::string why_not;
  std::string error;  // if not empty, the scenario could not run
  std::string replay;
  std::vector<Assertion> assertions;
};

/// `name` is the file's name in errors. Errors name the line: kInvalidArgument.
Result<EventList> ReadEventList(std::string_view text, const std::string& name);

}  // namespace caip::harness
