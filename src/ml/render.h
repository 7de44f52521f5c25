#pragma once
// The Job resource as a client sees it, made of what the engine knows.

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "ml/catalog/catalog.h"
#include "ml/job.h"
#include "run/job.h"

namespace caip::ml {

/// The job with its state, times and place in the queue. kDataLoss: its document cannot be read.
Result<Job> RenderJob(const run::Job& job);

/// The document that the engine keeps of a job that a client has sent: what only the service may
/// set is left out (docs/service/api.md, section 7). `project` is that of the job.
/// `algorithm`: the built-in one that the job runs; nullptr: none.
run::Document DocumentOf(const std::string& project, const Job& job,
                         const BuiltInAlgorithm* algorithm = nullptr);

/// The same document with other labels and a new etag. `etag`: only if it is the job's, else
/// kAborted.
Result<run::Document> WithLabels(const run::Job& job, std::map<std::string, std::string> labels,
                                 const std::optional<std::string>& etag);

/// The document of a tuning job with these trials.
Result<run::Document> WithTrials(const run::Document& document, const run::TrialsSummary& summary);

}  // namespace caip::ml
