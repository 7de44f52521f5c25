#pragma once
// The rules for notification configurations. Private to fakes/gcs/service.
// https://cloud.google.com/storage/docs/json_api/v1/notifications

#include <optional>

#include "base/json.h"
#include "base/result.h"

namespace caip::gcs {

/// Reads the configuration that a request asks for. kInvalidArgument names all fields that are
/// wrong.
Result<Json> ReadNotification(const Json& body);

/// The configuration without what an earlier version stored unchecked; nullopt if it has no topic
/// or no payload format then.
std::optional<Json> ReadableNotification(const Json& stored);

/// kInvalidArgument if a bucket with the configurations `kept` (by their ids) cannot have one more.
/// https://cloud.google.com/storage/quotas#buckets
Status CheckNotificationCount(const Json& kept, const Json& wanted);

}  // namespace caip::gcs
