#pragma once
// A job as the store writes it: the document of its API, and beside the document's members the
// state and the times that the engine keeps.

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/job.h"

namespace caip::host {

std::string StoredJobText(const run::Job& job);
/// kDataLoss: the text is not such a job. `key` names it, except for its location.
Result<run::Job> ParseStoredJob(run::RunKey key, std::string_view text);

}  // namespace caip::host
