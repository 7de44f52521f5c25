#pragma once
// Places the events of a run in a drawing: a row for each replica, columns in the order of events.
//
// The drawing keeps the order of the list from left to right but not the scale of time: a run takes
// milliseconds where a queue takes hours. Events of different replicas may share a column.

#include <set>
#include <string>
#include <vector>

#include "harness/events/event_list.h"

namespace caip::harness {

struct Mark {
  enum class Kind { kState, kFault, kExit, kStart, kLive, kWrite, kDelete, kRead, kStep, kLine };
  Kind kind = Kind::kLine;
  size_t row = 0;
  size_t event = 0;  // index into the list's events
  double at = 0;
};

/// One boot of one replica.
struct Bar {
  size_t row = 0;
  int boot = 0;
  double from = 0;
  double up = 0;  // where it came up; `to` if it never did
  double to = 0;
  bool ended = false;
  std::set<int64_t> steps;
  int64_t again = 0;  // the number of these steps that an earlier boot had reported
};

/// Consecutive writes of a boot below one folder, such as the files of a checkpoint.
struct WriteGroup {
  size_t row = 0;
  std::string folder;  // its last component: "ckpt-10"
  int64_t objects = 0;
  double from = 0;
  double to = 0;
};

struct TimelineLayout {
  std::vector<std::string> rows;  // "job", then the replicas in the order in which they appear
  std::vector<Mark> marks;        // in the order of the list
  std::vector<Bar> bars;
  std::vector<WriteGroup> groups;
  double width = 0;
};

/// At most `width` columns wide.
TimelineLayout LayOut(const EventList& list, double width);

/// "steps 11-40, 10 of them again"; "" if there are none.
std::string DescribeSteps(const Bar& bar);
/// Describes the event for a reader: "worker-0 boot 1 ends: signal 9 (SIGKILL)".
std::string DescribeForTimeline(const Event& event);
/// Whether the event gets a line of its own: faults, states, failed ends, warnings of the service.
bool IsHighlight(const Event& event);

}  // namespace caip::harness
