#pragma once
// The messages of the optimizer API: projects.locations.studies and .trials (docs/service/api.md,
// section 9).

#include "spec/message_schema.h"

namespace caip::spec {

const MessageSchema& StudySchema();
const MessageSchema& TrialSchema();
const MessageSchema& SuggestTrialsRequestSchema();
const MessageSchema& AddTrialMeasurementRequestSchema();
const MessageSchema& CompleteTrialRequestSchema();
/// Of CheckTrialEarlyStoppingState, StopTrial and ListOptimalTrials, which say nothing.
const MessageSchema& EmptyRequestSchema();
/// What the operations of suggest and checkEarlyStoppingState tell and answer.
const MessageSchema& SuggestTrialsMetadataSchema();
const MessageSchema& SuggestTrialsResponseSchema();
const MessageSchema& CheckStoppingMetadataSchema();
const MessageSchema& CheckStoppingResponseSchema();

}  // namespace caip::spec
