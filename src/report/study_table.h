#pragma once
// A study as text: a table of its trials with their curves, and the best trial so far.

#include <string>

#include "report/study_view.h"
#include "report/terminal_size.h"

namespace caip::report {

/// All trials with their exact values. The elapsed time of running trials ends at `now`.
std::string StudyTable(const StudyView& study, Instant now);

/// The table for a terminal: short numbers, no line wider than the window, and fewer lines than the
/// window has rows. If not all trials fit, it keeps the best one, then running ones, then those
/// that ended last. A line reports the number of missing trials.
std::string StudyScreen(const StudyView& study, Instant now, TerminalSize size);

/// One line about a trial that has ended: "trial 3 SUCCEEDED accuracy=0.96 at step 720, rate=0.1".
std::string TrialLine(const StudyView& study, const TrialView& trial);

/// The values of a curve as eight heights, at most `width` columns: "▁▂▄▇█".
std::string Sparkline(const std::vector<std::pair<int64_t, double>>& curve, size_t width);

}  // namespace caip::report
