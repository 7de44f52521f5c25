#pragma once
// Runs a command under another host name.

#include <string>
#include <vector>

namespace caip::host {

/// Returns the words that run `command` through caip-other-host, which is beside the running
/// program. It uses a UTS namespace with that name if the host allows one. Otherwise it uses the
/// preload library, which has no effect on static programs. CAIP_INTERPOSITION=preload requests the
/// library.
std::vector<std::string> OnHost(const std::string& name, std::vector<std::string> command);

}  // namespace caip::host
