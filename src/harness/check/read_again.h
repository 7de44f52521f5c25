#pragma once
// Finds the files of the first boot of a replica that its second boot reads.

#include <string>
#include <vector>

#include "harness/check/check_run.h"

namespace caip::harness {

/// Objects that boot 1 of the replica wrote and boot 2 read, in the order of the reads. They have
/// the names under which boot 2 read them: files and their directories may be renamed.
std::vector<std::string> FindReadAgain(const CheckRun& run, const std::string& replica);

}  // namespace caip::harness
