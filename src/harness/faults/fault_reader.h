#pragma once
// `faults:` of a scenario -> Fault.

#include <vector>

#include "harness/faults/fault.h"
#include "harness/scenario/file_cursor.h"

namespace caip::harness {

/// Says on the cursors what is wrong. Names are made where none is given: "kill 1".
std::vector<Fault> ReadFaults(const Cursor& cursor);

}  // namespace caip::harness
