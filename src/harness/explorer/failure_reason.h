#pragma once
// The line that says why a job failed.

#include <string>
#include <string_view>

#include "harness/expectations/expectation.h"

namespace caip::harness {

/// The line of a job's errorMessage that names the failure: the exception of a Python traceback,
/// even if its message has several lines, else the last line with a letter or digit.
std::string FindErrorLine(std::string_view error_message);

/// That line of a run whose job failed. If the message has only the exit code, it is the last line
/// of the program, if possible one that it printed as an error. What Open MPI says about the end of
/// ranks is left out.
std::string FindFailureReason(const Evidence& run);

}  // namespace caip::harness
