#pragma once
// A scenario from YAML.

#include <string>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// As ReadScenario(file), of which `text` is what stands in it.
Result<Scenario> ReadScenarioText(const std::string& text, const Path& file);

}  // namespace caip::harness
