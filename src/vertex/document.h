#pragma once
// What the engine keeps of a custom job: the CustomJob, where it runs, and the pipeline that made
// it.

#include <optional>
#include <string>

#include "base/result.h"
#include "run/job.h"
#include "vertex/custom_job.h"
#include "vertex/training_pipeline.h"

namespace caip::vertex {

struct StoredPipeline {
  std::string id;
  Json plain;  // of TrainingPipeline
};

struct StoredCustomJob {
  CustomJob job;
  std::string region;
  std::optional<StoredPipeline> pipeline;
};

run::Document ToDocument(const CustomJob& job, const std::string& region,
                         const std::optional<StoredPipeline>& pipeline = std::nullopt);
/// kDataLoss: the document is none of ToDocument.
Result<StoredCustomJob> ReadDocument(const run::Document& document);

/// Whether a pipeline has made the job.
bool IsPipelineJob(const run::Document& document);
/// The CustomJob, or the TrainingPipeline, of a document in API JSON, unread; an empty object where
/// there is none.
const Json& JobPartOf(const run::Document& document);
const Json& PipelinePartOf(const run::Document& document);

}  // namespace caip::vertex
