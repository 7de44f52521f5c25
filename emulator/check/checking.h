#pragma once
// Makes the runs of a session, each on an emulator of its own.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "harness/check/check_run.h"

namespace caip::check {

struct CheckingOptions {
  Path workshop;     // where runs have their directories
  Path findings;     // where scenario files of the explorer go
  int64_t jobs = 1;  // runs at once, where one does not need the other
  std::function<bool()> interrupted = nullptr;
  /// Told when a run was made or skipped; one call at a time, from any thread.
  std::function<void(const harness::CheckRunKind& kind, const harness::CheckRun& run)> made =
      nullptr;
};

/// Makes the runs that are named and puts them into the session; those behind an interruption are
/// left out. An Error is the host's or ours, never the trainer's: a run whose job was not taken is
/// one (kInvalidArgument), and so is a full disk (kResourceExhausted).
Status MakeRuns(const std::vector<const harness::CheckRunKind*>& kinds,
                const CheckingOptions& options, harness::CheckSession& session);

}  // namespace caip::check
