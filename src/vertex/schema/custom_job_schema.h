#pragma once
// The messages of a CustomJob as tables (docs/service/vertex.md, section 3).

#include "google/message_schema.h"

namespace caip::vertex {

const google::MessageSchema& CustomJobSchema();
const google::MessageSchema& CustomJobSpecSchema();
const google::EnumSchema& JobStateSchema();

}  // namespace caip::vertex
