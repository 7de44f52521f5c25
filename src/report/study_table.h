#pragma once
// A study as text: a table of its trials, the best so far, a curve for each.

#include <string>

#include "report/study_view.h"
#include "report/terminal_size.h"

namespace caip::report {

/// Every trial with its exact values. `now` ends the time of trials that run.
std::string StudyTable(const StudyView& study, Instant now);

/// The same for a look at a terminal: numbers are short, no line is wider than the window, and
/// there are fewer lines than it has rows. Where trials must be left out, the best stays, then
/// those that run, then those that ended last; a line says how many are missing.
std::string StudyScreen(const StudyView& study, Instant now, TerminalSize size);

/// One line of a trial that has ended: "trial 3 SUCCEEDED accuracy=0.96 at step 720, rate=0.1".
std::string TrialLine(const StudyView& study, const TrialView& trial);

/// The values of a curve as eight heights, at most `width` columns: "▁▂▄▇█".
std::string Sparkline(const std::vector<std::pair<int64_t, double>>& curve, size_t width);

}  // namespace caip::report
