#pragma once
// What jobs report about their container images.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::host::errors {

/// kFailedPrecondition: no image of that name is on this host.
Error ImageNotFound(std::string_view uri);
/// kFailedPrecondition: replicas are processes of this host.
Error ImageNeedsMachine(std::string_view uri);
/// The image was found, but it cannot run.
Error ImageUnusable(std::string_view uri, const Error& cause);
/// `last` is what the engine printed.
Error EngineCannotSave(std::string_view engine, std::string_view last);
Error UserNotInImage(std::string_view name);
Error GroupNotInImage(std::string_view name);

}  // namespace caip::host::errors
