#pragma once
// What a scenario asks of this host.

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// What the scenario needs and this host lacks, in words; "" nothing.
std::string LackOf(const harness::Scenario& scenario);

/// Whether there is no room on the disk that has this directory.
bool IsFull(const Path& directory);

}  // namespace caip::scenario
