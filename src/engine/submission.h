#pragma once
// What is looked at before a job is accepted: the rules, Cloud Storage, and what this host can run.

#include "engine/options.h"

namespace caip::engine {

/// All violations at once, of the rules first: with a broken rule nothing is probed. Blocks.
Status CheckSubmission(const spec::Job& job, const EngineOptions& options, StorageProbe& storage);

}  // namespace caip::engine
