#pragma once
// Converts a LogEntry from a client to the form that the service returns: camelCase names,
// canonical values.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::logging {

/// Omits members that only the service sets. Errors name the member: "entries[3].severity".
Result<Json> CanonicalLogEntry(const Json& entry, const std::string& place);
/// MonitoredResource: type and labels.
Result<Json> CanonicalResource(const Json& resource, const std::string& place);
/// A map of strings.
Result<Json> CanonicalLabels(const Json& labels, const std::string& place);

}  // namespace caip::logging
