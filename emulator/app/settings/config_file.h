#pragma once
// The emulator's config file: YAML, with every mistake reported by line and column.

#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"

namespace caip::app {

/// Reads `file` into `options`. Unknown keys and wrong values are all reported at once.
Status ReadConfigFile(const Path& file, EmulatorOptions& options);

}  // namespace caip::app
