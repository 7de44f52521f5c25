#pragma once
// Draws an event list: boots, faults, writes and steps.

#include <string>

#include "harness/events/event_list.h"

namespace caip::harness {

struct TimelineStyle {
  int width = 100;       // columns
  bool colours = false;  // ANSI's
};

/// Lines for a terminal, in UTF-8. Control characters of the run's own output are removed.
std::string TimelineText(const EventList& list, const TimelineStyle& style);

/// One page that needs no other file: SVG, style and script are inside.
std::string TimelineHtml(const EventList& list);

}  // namespace caip::harness
