#pragma once
// A replica's command and environment as execve takes them. Pure.

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ports.h"

namespace caip::host {

/// Refuses what execve cannot take.
Status CheckTexts(const engine::ReplicaLaunch& launch, const std::vector<std::string>& argv);

/// NAME=value; the marker (orphans.h) last, whatever the caller had under its name.
std::vector<std::string> VariableWords(const engine::Environment& environment,
                                       const std::string& marker);

}  // namespace caip::host
