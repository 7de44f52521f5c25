#pragma once
// Expectations that exclude each other, or that no job can meet: docs/scenarios.md.

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// Says on `expect` what cannot hold. What `scenario.shows_bug` names may fail, and is left out.
void CheckExpectations(const Cursor& expect, const Scenario& scenario);

}  // namespace caip::harness
