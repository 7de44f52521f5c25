#pragma once
// LogEntry as JSON from a client -> as the service answers it: camelCase names, canonical values.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::logging {

/// Members that only the service sets are left out. Errors name the member: "entries[3].severity".
Result<Json> CanonicalLogEntry(const Json& entry, const std::string& place);
/// MonitoredResource: type and labels.
Result<Json> CanonicalResource(const Json& resource, const std::string& place);
/// Texts by name.
Result<Json> CanonicalLabels(const Json& labels, const std::string& place);

}  // namespace caip::logging
