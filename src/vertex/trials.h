#pragma once
// The trials of a tuning job: how its document keeps them, and how clients see each as a custom job
// of its own (docs/service/vertex.md, section 8).

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "run/job.h"
#include "vertex/document.h"

namespace caip::vertex {

/// By number, with all that the engine knows of them.
Json ToStoredTrials(std::vector<run::Trial> trials);
/// kDataLoss: `stored` is none of ToStoredTrials.
Result<std::vector<run::Trial>> FromStoredTrials(const Json& stored);

/// A trial as a custom job, with an id made by TrialJobId. The engine does not know it: it can be
/// rendered and filtered, and nothing else. `tuning_job` is the job of the document.
run::Job TrialAsJob(const run::Job& tuning_job, const StoredTuningJob& stored,
                    const run::Trial& trial);

/// All trials of a tuning job so, the newest first. kDataLoss: its document cannot be read.
Result<std::vector<run::Job>> TrialsAsJobs(const run::Job& tuning_job);

/// The first of the trials with the best measurement, in `stored`; nullptr: none has one.
const run::Trial* FindBestTrial(const StoredTuningJob& stored);

}  // namespace caip::vertex
