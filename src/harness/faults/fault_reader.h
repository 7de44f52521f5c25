#pragma once
// `faults:` of a scenario -> Fault.

#include <vector>

#include "harness/faults/fault.h"
#include "harness/scenario/file_cursor.h"

namespace caip::harness {

/// Reports mistakes on the cursors. A fault without a name gets one: "kill 1".
std::vector<Fault> ReadFaults(const Cursor& cursor);

/// The place of `until` or `down_until` in `element`, from which `fault` was read.
Cursor UntilPlace(const Fault& fault, const Cursor& element);

}  // namespace caip::harness
