#pragma once
// Flags and file of `hp-tuning-jobs create` and the HyperparameterTuningJob that gcloud makes of
// them (docs/vertex.md).

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "client/vertex/custom_job.h"

namespace caip::client::vertex {

/// The flags that become fields of a HyperparameterTuningJob.
struct TuningJobFlags : JobFlags {
  std::optional<int64_t> max_trial_count;
  std::optional<int64_t> parallel_trial_count;
  std::optional<std::string> algorithm;  // the API's name: "GRID_SEARCH"
};

/// The HyperparameterTuningJob that gcloud sends: `flags` override `file`. Unknown names in the
/// file are an error, as are values of wrong types.
Result<Json> MergeTuningJob(const TuningJobFlags& flags, const SubmitFile& file);

/// An error if gcloud would do something with these flags and this file that the user cannot have
/// meant (`--strict`).
Status CheckTuningJobTraps(const TuningJobFlags& flags, const SubmitFile& file);

/// A HyperparameterTuningJob of the service as gcloud parses it: fields that are doubles in the API
/// are doubles even if the JSON has 1.
Json WithTuningDoubles(Json job);

}  // namespace caip::client::vertex
