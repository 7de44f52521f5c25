#pragma once
// A look at packages: what of the source is not in them, and what they import that nobody declares.

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace caip::check {

/// python/look_at_packages.py; made by emulator/module.cmake.
std::string_view LookAtPackagesText();

/// Runs it with a Python of this host; `asked` is what it is told. Nothing of the trainer runs.
Result<Json> LookAtPackages(const Json& asked);

}  // namespace caip::check
