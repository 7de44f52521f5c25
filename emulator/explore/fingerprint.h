#pragma once
// What an exploration depends on, as a number: the scenario and the files of its trainer.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// Eight hexadecimal digits (FNV-1a): names a text among a few others.
std::string ShortHash(std::string_view text);

/// Changes with the scenario and with what its trainer consists of, as far as files say it.
/// `not_ours`: folders that runs write to; nor do .git, bytecode and event files matter.
std::string Fingerprint(const harness::Scenario& scenario, const std::vector<Path>& not_ours);

}  // namespace caip::explore
