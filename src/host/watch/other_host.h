#pragma once
// A command that believes it is on a host of another name.

#include <string>
#include <vector>

namespace caip::host {

/// The command, run by caip-other-host (beside the program that uses us): in a UTS namespace with
/// that name where one is to be had, else told the name by the preload library, which programs
/// that are linked statically do not see. CAIP_INTERPOSITION=preload asks for the latter.
std::vector<std::string> OnHost(const std::string& name, std::vector<std::string> command);

}  // namespace caip::host
