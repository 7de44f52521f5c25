#pragma once
// The words of `caip check` -> the trainer that is to be checked.

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "emulator/cli/commands/commands.h"
#include "harness/check/check_run.h"

namespace caip::cli {

/// What is meant where a job of a Python package says no version.
inline constexpr char kPlainRuntime[] = "2.11";
inline constexpr char kPlainPython[] = "3.7";

/// The trainingInput that a submit would send, of packages that are built already; a region and a
/// staging bucket need not be said.
Result<Json> MergedInput(SubmitCommand submit);

/// Its master is an image, and no Python package.
bool IsContainer(const Json& training_input);

/// What `jobs submit` says went wrong, for a command of another name.
std::string WithoutClientsName(const std::string& said);

/// Builds its packages into `workshop` and merges the job as a submit does. Errors are in the
/// client's words, and are the user's.
Result<harness::CheckedTrainer> TrainerOf(const CheckCommand& command, const Path& workshop);

}  // namespace caip::cli
