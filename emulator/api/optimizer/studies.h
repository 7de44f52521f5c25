#pragma once
// projects.locations.studies, .trials, and the operations that they make (docs/service/api.md,
// sections 2 and 9).

#include <vector>

#include "emulator/api/optimizer/study_desk.h"
#include "http/router.h"

namespace caip::api {

/// `desk` outlives the routes.
std::vector<http::Route> StudyRoutes(StudyDesk& desk);

}  // namespace caip::api
