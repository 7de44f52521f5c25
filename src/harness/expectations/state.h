#pragma once
// The state that a job is to end in.

#include <string>

#include "harness/expectations/expectation.h"

namespace caip::harness {

/// What `state: SUCCEEDED` says, for scenarios that say nothing of their job's end.
ExpectationPtr ExpectState(const std::string& state);

}  // namespace caip::harness
