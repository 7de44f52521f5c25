#pragma once
// A timeline as SVG on a page: a row for each replica, boots as bars, events as marks.

#include <string>
#include <string_view>

#include "harness/events/event_list.h"

namespace caip::harness {

/// The markup of the drawing, with its legend. The list has events. Marks of events carry the
/// event's description as `data-tip`.
std::string TimelineDrawing(const EventList& list);

/// The text, or its first bytes and "…" if it is longer than a tip may be.
std::string CutTip(std::string text);

/// The files marks.svg and legend.html.
std::string_view TimelineMarkShapes();
std::string_view TimelineLegend();

}  // namespace caip::harness
