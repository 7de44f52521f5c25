#pragma once
// Rejects expectations that exclude each other, or that no job can meet: docs/scenarios.md.

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// Reports on `expect` what cannot hold. Expectations that `scenario.shows_bug` names may fail and
/// are skipped.
void CheckExpectations(const Cursor& expect, const Scenario& scenario);

}  // namespace caip::harness
