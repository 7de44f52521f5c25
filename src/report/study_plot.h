#pragma once
// A study as one self-contained picture: the objective of each trial with the best so far, the
// trials in parallel coordinates, and the importance of each parameter.

#include <string>

#include "report/study_view.h"

namespace caip::report {

/// An SVG file.
std::string StudyPicture(const StudyView& study);
/// An HTML page with the picture and a table of the trials. It loads no other file.
std::string StudyPage(const StudyView& study);

}  // namespace caip::report
