#pragma once
// The errors that keep a job from being explored.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::explore::errors {

/// kFailedPrecondition: the job fails without any restart.
Error BaselineFailed(std::string_view state, std::string_view why);
/// 503 answers are asked for, but the job sees its storage as a directory.
Error StorageErrorsNeedObjects();
/// Cuts are asked for, but no network leads to storage.
Error NetworkCutsNeedNetwork();
Error NoSuchReplica(std::string_view replica, const std::vector<std::string>& replicas);

}  // namespace caip::explore::errors
