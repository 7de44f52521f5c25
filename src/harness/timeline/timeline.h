#pragma once
// An event list as a drawing: who lived when, what struck, what was written, which steps were done.

#include <string>

#include "harness/events/event_list.h"

namespace caip::harness {

struct TimelineStyle {
  int width = 100;       // columns
  bool colours = false;  // ANSI's
};

/// Lines for a terminal, in UTF-8. What the run said is shown without its control characters.
std::string TimelineText(const EventList& list, const TimelineStyle& style);

/// One page that asks nobody for anything: SVG, style and script are inside.
std::string TimelineHtml(const EventList& list);

}  // namespace caip::harness
