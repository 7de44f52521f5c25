#pragma once
// What a trainer wrote where reports of its metric are looked for, and that is no report of it.

#include <vector>

#include "engine/ports.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// Of the metric file as it is now: other tags, and values that are no numbers.
std::vector<harness::TriedReport> TriedReports(const engine::MetricSource& source);

}  // namespace caip::check
