#pragma once
// Every rule of a HyperparameterTuningJob that can be checked without looking at the world
// (docs/service/vertex.md, section 8).

#include <string_view>
#include <vector>

#include "base/result.h"
#include "vertex/tuning_job.h"
#include "vertex/validate/validate.h"

namespace caip::vertex {

/// All broken rules: those of the custom job that every trial is, then the study, then the numbers
/// of trials.
std::vector<FieldViolation> ValidateTuning(const TuningJob& job, std::string_view location,
                                           const ValidationOptions& options = {});

/// The fields that caip does not serve, one violation each.
std::vector<FieldViolation> FindUnservedTuning(const TuningJob& job,
                                               const ValidationOptions& options);

/// Both, and CheckResources, as CheckCustomJob does it.
Status CheckTuningJob(const TuningJob& job, std::string_view location,
                      const ValidationOptions& options = {});

}  // namespace caip::vertex
