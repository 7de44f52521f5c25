#pragma once
// A study as one file that loads no other: an SVG picture, or an HTML page.

#include <string>
#include <string_view>

#include "report/study_view.h"

namespace caip::report {

/// An SVG file with the drawings of the study below each other.
std::string StudyPicture(const StudyView& study);
/// An HTML page with the drawings, the best trial and a table of the trials.
std::string StudyPage(const StudyView& study);

/// The file picture.css.
std::string_view PictureStyle();

}  // namespace caip::report
