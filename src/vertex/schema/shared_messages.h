#pragma once
// Messages and enums that several resources have (docs/service/vertex.md, section 1).

#include "google/message_schema.h"

namespace caip::vertex {

inline constexpr google::FieldSchema kStatusFields[] = {
    google::fields::Field("code", "code", google::FieldKind::kInt32),
    google::fields::Field("message", "message", google::FieldKind::kString),
    google::fields::List(google::fields::Field("details", "details", google::FieldKind::kOpaque)),
};
inline constexpr google::MessageSchema kStatus{"google.rpc.Status", kStatusFields};

inline constexpr google::FieldSchema kEncryptionSpecFields[] = {
    google::fields::Field("kmsKeyName", "kms_key_name", google::FieldKind::kString),
};
inline constexpr google::MessageSchema kEncryptionSpec{"google.cloud.aiplatform.v1.EncryptionSpec",
                                                       kEncryptionSpecFields};

}  // namespace caip::vertex
