#pragma once
// ml.googleapis.com v1, all of it: what is emulated, and a 501 with its name for what is not.

#include <vector>

#include "emulator/api/ml/policies.h"
#include "emulator/api/ml/projects.h"
#include "emulator/api/optimizer/study_desk.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// Engine, policies and studies outlive the routes.
std::vector<http::Route> MlRoutes(engine::Engine& engine, PolicyStore& policies, StudyDesk& studies,
                                  const ServiceIdentity& identity);

}  // namespace caip::api
