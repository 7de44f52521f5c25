#pragma once
// The messages of a HyperparameterTuningJob as tables (docs/service/vertex.md, section 8).

#include "google/message_schema.h"

namespace caip::vertex {

const google::MessageSchema& TuningJobSchema();
/// The inputs of a pipeline whose task is a tuning job.
const google::MessageSchema& TuningTaskInputsSchema();

}  // namespace caip::vertex
