#pragma once
// What a HyperparameterSpec asks for, in the words of the optimizer and of the engine.

#include "ml/job.h"
#include "run/study_step.h"
#include "tuning/optimizer.h"

namespace caip::ml {

/// The space of a tuning job whose spec is valid.
tuning::Space SpaceOf(const HyperparameterSpec& spec);
/// The study of a tuning job whose spec is valid (POPULATION_BASED_TRAINING is refused there).
tuning::Study StudyOf(const HyperparameterSpec& spec);
/// maxTrials, maxParallelTrials and maxFailedTrials with their defaults.
run::StudyProgress ProgressAtTheStart(const HyperparameterSpec& spec);

}  // namespace caip::ml
