#pragma once
// A study as one self-contained picture: the objective over the trials with the best so far, the
// trials in parallel coordinates, and how much each parameter matters.

#include <string>

#include "report/study_view.h"

namespace caip::report {

/// An SVG file.
std::string StudyPicture(const StudyView& study);
/// The same in an HTML page, with a table of the trials; needs nothing from anywhere.
std::string StudyPage(const StudyView& study);

}  // namespace caip::report
