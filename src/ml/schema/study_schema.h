#pragma once
// The messages of the optimizer API: projects.locations.studies and .trials (docs/service/api.md,
// section 9).

#include "google/message_schema.h"

namespace caip::ml {

const google::MessageSchema& StudySchema();
const google::MessageSchema& TrialSchema();
const google::MessageSchema& SuggestTrialsRequestSchema();
const google::MessageSchema& AddTrialMeasurementRequestSchema();
const google::MessageSchema& CompleteTrialRequestSchema();
/// The empty requests of CheckTrialEarlyStoppingState, StopTrial and ListOptimalTrials.
const google::MessageSchema& EmptyRequestSchema();
/// Metadata and responses of the operations of suggest and checkEarlyStoppingState.
const google::MessageSchema& SuggestTrialsMetadataSchema();
const google::MessageSchema& SuggestTrialsResponseSchema();
const google::MessageSchema& CheckStoppingMetadataSchema();
const google::MessageSchema& CheckStoppingResponseSchema();

}  // namespace caip::ml
