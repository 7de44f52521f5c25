#pragma once
// A command that believes it is on a host of another name.

#include <string>
#include <vector>

namespace caip::host {

/// Returns the command run by caip-other-host, which lies beside the running program: in a UTS
/// namespace with that name where the host allows one, else with the preload library, which
/// statically linked programs do not see. CAIP_INTERPOSITION=preload asks for the latter.
std::vector<std::string> OnHost(const std::string& name, std::vector<std::string> command);

}  // namespace caip::host
