#pragma once
// The errors that keep a job from being explored.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "harness/expectations/expectation.h"

namespace caip::explore::errors {

/// kCancelled: the user ended the exploration in a run before the first restart.
Error Interrupted();
/// kFailedPrecondition: the job fails without any restart. Quotes its last lines.
Error BaselineFailed(const harness::Evidence& run);
/// kFailedPrecondition: neither steps nor files of two runs could be compared.
Error NothingToCompare();
/// kUnimplemented: the command writes these directories, and runs cannot get copies of them.
Error OtherVolumesNeedMachines(const std::vector<Path>& directories);
/// 503 answers are asked for, but the job sees its storage as a directory.
Error StorageErrorsNeedObjects();
/// Cuts are asked for, but no network leads to storage.
Error NetworkCutsNeedObjects();
Error NetworkFaultsNeedMachines();
Error PowerLossNeedsFiles();
Error FullDisksNeedFiles();
Error PowerLossNeedsOneReplica();
Error NoSuchReplica(std::string_view replica, const std::vector<std::string>& replicas);

}  // namespace caip::explore::errors
