#pragma once
// What the engine keeps of a job: the CustomJob, or the HyperparameterTuningJob with its trials,
// where it runs, and the pipeline that made it.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/job.h"
#include "vertex/custom_job.h"
#include "vertex/training_pipeline.h"
#include "vertex/tuning_job.h"

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

struct StoredTuningJob {
  TuningJob job;
  std::string region;
  std::optional<StoredPipeline> pipeline;
  std::vector<run::Trial> trials;  // by number
};

run::Document ToDocument(const CustomJob& job, const std::string& region,
                         const std::optional<StoredPipeline>& pipeline = std::nullopt);
run::Document ToDocument(const TuningJob& job, const std::string& region,
                         const std::optional<StoredPipeline>& pipeline = std::nullopt);
/// The document of a tuning job with the trials so far.
run::Document WithTrials(const run::Document& document, const std::vector<run::Trial>& trials);
/// kDataLoss: the document is none of ToDocument for the kind of job.
Result<StoredCustomJob> ReadDocument(const run::Document& document);
Result<StoredTuningJob> ReadTuningDocument(const run::Document& document);

/// Whether a pipeline has made the job.
bool IsPipelineJob(const run::Document& document);
/// Whether it is a HyperparameterTuningJob, and not a CustomJob.
bool IsTuningJob(const run::Document& document);
/// The CustomJob or HyperparameterTuningJob, or the TrainingPipeline, of a document in API JSON,
/// unread; an empty object where there is none.
const Json& JobPartOf(const run::Document& document);
const Json& PipelinePartOf(const run::Document& document);

}  // namespace caip::vertex
