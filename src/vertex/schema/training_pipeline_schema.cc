// The message of a TrainingPipeline. The order of the fields is that in which they are written.

#include "vertex/schema/training_pipeline_schema.h"

#include "vertex/schema/shared_messages.h"

namespace caip::vertex {
namespace {

using namespace google::fields;
using enum google::FieldKind;

constexpr std::string_view kPipelineStateNames[] = {
    "PIPELINE_STATE_UNSPECIFIED", "PIPELINE_STATE_QUEUED",    "PIPELINE_STATE_PENDING",
    "PIPELINE_STATE_RUNNING",     "PIPELINE_STATE_SUCCEEDED", "PIPELINE_STATE_FAILED",
    "PIPELINE_STATE_CANCELLING",  "PIPELINE_STATE_CANCELLED", "PIPELINE_STATE_PAUSED"};
constexpr google::EnumSchema kPipelineState{"google.cloud.aiplatform.v1.PipelineState",
                                            kPipelineStateNames};

// The inputs are a google.protobuf.Struct: the definition of the task says what they mean.
constexpr google::FieldSchema kTrainingPipelineFields[] = {
    Output(Field("name", "name", kString)),
    Field("displayName", "display_name", kString),
    Field("inputDataConfig", "input_data_config", kOpaque),
    Field("trainingTaskDefinition", "training_task_definition", kString),
    Field("trainingTaskInputs", "training_task_inputs", kOpaque),
    Output(Field("trainingTaskMetadata", "training_task_metadata", kOpaque)),
    Field("modelToUpload", "model_to_upload", kOpaque),
    Field("modelId", "model_id", kString),
    Field("parentModel", "parent_model", kString),
    Output(Of("state", "state", kPipelineState)),
    Output(Of("error", "error", kStatus)),
    Output(Field("createTime", "create_time", kTimestamp)),
    Output(Field("startTime", "start_time", kTimestamp)),
    Output(Field("endTime", "end_time", kTimestamp)),
    Output(Field("updateTime", "update_time", kTimestamp)),
    Field("labels", "labels", kStringMap),
    Of("encryptionSpec", "encryption_spec", kEncryptionSpec),
};
constexpr google::MessageSchema kTrainingPipeline{"google.cloud.aiplatform.v1.TrainingPipeline",
                                                  kTrainingPipelineFields};

}  // namespace

const google::MessageSchema& TrainingPipelineSchema() { return kTrainingPipeline; }

}  // namespace caip::vertex
