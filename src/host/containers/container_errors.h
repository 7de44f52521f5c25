#pragma once
// What the back ends of podman and docker report.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::host::errors {

// kFailedPrecondition: the settings ask for what this host or the engine does not have.
Error EngineMissing(std::string_view engine);
/// `last` is what the engine printed.
Error EngineSilent(std::string_view engine, std::string_view last);
/// Replicas in containers of an engine have the network of this host, and no machines.
Error EngineOnMachines(std::string_view engine);
/// `flag` needs what the bundled engine does.
Error EngineWithout(std::string_view engine, std::string_view flag);

/// `last` is what the engine printed.
Error EngineCannotLoad(std::string_view engine, std::string_view last);
Error EngineCannotRemove(std::string_view engine, std::string_view container,
                         std::string_view last);

}  // namespace caip::host::errors
