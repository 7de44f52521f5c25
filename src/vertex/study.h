#pragma once
// What a HyperparameterTuningJob asks for, in the words of the optimizer and of the engine.

#include <string>
#include <vector>

#include "run/run_spec.h"
#include "vertex/tuning_job.h"

namespace caip::vertex {

/// The search of a job that has passed ValidateTuning.
run::TuningSpec TuningSpecOf(const TuningJob& job);

/// `--NAME VALUE` as two arguments for each value of a trial, in the order of the parameters.
std::vector<std::string> TrialArguments(const tuning::Space& space,
                                        const tuning::ValueTexts& values);

}  // namespace caip::vertex
