#pragma once
// The drawings of a study: the objective of each trial with the best so far, the trials in parallel
// coordinates, and the importance of each parameter.

#include <string>
#include <vector>

#include "page/page.h"
#include "report/study_view.h"

namespace caip::report {

struct StudyPanel {
  std::string heading;
  page::Drawing drawing;
};

/// Always three panels. Their classes of shapes are styled by src/page/style.css, and in a picture
/// that stands alone by src/report/picture.css.
std::vector<StudyPanel> StudyPanels(const StudyView& study);

}  // namespace caip::report
