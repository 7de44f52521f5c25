#pragma once
// What `caip explore` prints for people: its report, and a line that shows how far it is.

#include <functional>
#include <string>

#include "emulator/cli/output.h"
#include "emulator/explore/explore_report.h"
#include "emulator/explore/exploring.h"

namespace caip::cli {

/// The findings, and what the exploration did. `colours`: the reader is a terminal.
std::string ExploreText(const explore::ExploreReport& report, const explore::ReportHead& head,
                        bool colours);

/// "[####......] 12/40 restarts, 2 causes".
std::string ProgressText(const explore::ExploreProgress& progress);

/// One line of the terminal that shows the progress. It overwrites itself, and is gone at the end.
/// Null if standard error is not a terminal. `io` must outlive it.
std::function<void(const explore::ExploreProgress&)> ProgressLine(const Io& io);

/// Whether the baseline runs used up the budget.
bool HadNoTime(const explore::ExploreReport& report);

}  // namespace caip::cli
