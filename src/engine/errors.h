#pragma once
// Every error text of the engine. APIs and launchers have their own.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::engine::errors {

Error EngineStopped();
/// Of a request, or of a job that an emulator with more APIs has stored.
Error ApiUnknown(std::string_view name);
Error NotSavedYet(const Error& cause);
Error NothingToLose(std::string_view job_id, std::string_view replica);
Error JobNotRunning(std::string_view job_id);
Error JobHasNotEnded(std::string_view job_id);
/// `job` is "project/job".
Error StoredJobUnreadable(std::string_view job, const Error& cause);
/// The engine's note of a run; `what` is the member that cannot be read.
Error RunNoteUnreadable(std::string_view what);

}  // namespace caip::engine::errors
