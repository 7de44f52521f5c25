#pragma once
// What is looked at before a job is accepted: the rules, Cloud Storage, and what this host can run.

#include <string>
#include <vector>

#include "engine/options.h"

namespace caip::engine {

/// The job that the study goes on from is there, has ended, and asked the same. Of an id that no
/// job can have, which breaks a rule, nothing is said.
Status CheckResumption(const std::string& project, const ml::TrainingInput& input,
                       const JobStore& store);

/// All violations at once, of the rules first: with a broken rule nothing is probed. Blocks.
/// Packages in `arriving` are still to be uploaded, and not looked for.
Status CheckSubmission(const ml::Job& job, const EngineOptions& options, StorageProbe& storage,
                       const std::vector<std::string>& arriving = {});

/// What is wrong with either; of different codes only the first.
Status Both(Status first, const Status& second);

}  // namespace caip::engine
