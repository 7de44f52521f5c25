#pragma once
// Reads the `trainer` of a scenario: a command, or a cluster of commands.

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// Reports mistakes on the cursor. Relative paths start at scenario.trainer_folder.
void ReadTrainer(const Cursor& trainer, Scenario& scenario);

}  // namespace caip::harness
