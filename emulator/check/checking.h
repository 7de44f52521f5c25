#pragma once
// Makes the runs of `caip check`, each on its own emulator.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/scenario/run_settings.h"
#include "harness/check/check_run.h"

namespace caip::check {

struct CheckingOptions {
  Path workshop;                        // the folder of all runs
  Path findings;                        // the explorer writes its scenarios here
  int64_t jobs = 1;                     // at most this many runs at once
  scenario::RunSettings settings = {};  // of the emulators of all runs
  Path volumes = {};                    // copies of the volumes with which runs begin; "": none
  std::function<bool()> interrupted = nullptr;
  /// Called after a run was made or skipped. One call at a time, from any thread.
  std::function<void(const harness::CheckRunKind& kind, const harness::CheckRun& run)> made =
      nullptr;
};

/// Makes runs of these kinds and adds them to the session. After an interruption the remaining runs
/// are left out. An Error is about the host, the arguments or caip, never about what the trainer
/// did: the job was rejected (kInvalidArgument), or the disk is full (kResourceExhausted).
Status MakeRuns(const std::vector<const harness::CheckRunKind*>& kinds,
                const CheckingOptions& options, harness::CheckSession& session);

/// The text of python/look_at_packages.py. module.cmake generates the definition.
std::string_view LookAtPackagesText();

}  // namespace caip::check
