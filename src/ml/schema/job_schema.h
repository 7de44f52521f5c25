#pragma once
// The messages of a Job of ml.googleapis.com v1.

#include "google/message_schema.h"

namespace caip::ml {

/// google.cloud.ml.v1.Job.
const google::MessageSchema& JobSchema();
/// google.cloud.ml.v1.TrainingInput.
const google::MessageSchema& TrainingInputSchema();

}  // namespace caip::ml
