#pragma once
// A scenario from YAML.

#include <string>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// Like ReadScenario(file) for a file with this text.
Result<Scenario> ReadScenarioText(const std::string& text, const Path& file);

}  // namespace caip::harness
