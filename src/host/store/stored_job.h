#pragma once
// A job in the store's form: the document of the job's API, with the engine's state and times as
// additional members.

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/job.h"

namespace caip::host {

std::string StoredJobText(const run::Job& job);
/// kDataLoss: the text is not such a job. `key` names it, except for its location.
Result<run::Job> ParseStoredJob(run::RunKey key, std::string_view text);

}  // namespace caip::host
