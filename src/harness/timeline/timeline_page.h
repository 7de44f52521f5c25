#pragma once
// The parts of a timeline's page that are the same for every run.

namespace caip::harness {

extern const char kTimelineStyle[];
extern const char kTimelineLegend[];
/// Shows what a mark stands for beside the pointer, or on a tap.
extern const char kTimelineScript[];

}  // namespace caip::harness
