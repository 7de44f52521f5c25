#pragma once
// The message of a TrainingPipeline as a table (docs/service/vertex.md, section 3).

#include "google/message_schema.h"

namespace caip::vertex {

const google::MessageSchema& TrainingPipelineSchema();

}  // namespace caip::vertex
