#pragma once
// Runs a command under another host name.

#include <string>
#include <vector>

namespace caip::host {

/// Returns the command run by caip-other-host, which lies beside the running program: in a UTS
/// namespace with that name if the host allows one, or else with the preload library, which has no
/// effect on static programs. CAIP_INTERPOSITION=preload asks for the latter.
std::vector<std::string> OnHost(const std::string& name, std::vector<std::string> command);

}  // namespace caip::host
