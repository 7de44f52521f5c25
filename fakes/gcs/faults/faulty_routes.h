#pragma once
// Routes whose calls may go wrong on purpose.

#include <memory>
#include <vector>

#include "fakes/gcs/faults/fault_plan.h"
#include "fakes/gcs/faults/pause.h"
#include "http/router.h"

namespace caip::gcs {

/// The same routes, but each call first asks the plan. A call without a fault costs that question
/// and nothing else. `plan` and `pause` are shared by the handlers.
std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause);

}  // namespace caip::gcs
