#pragma once
// The programs and libraries that belong to the running program.

#include <string_view>

#include "base/files.h"

namespace caip::host {

/// The file of that name which belongs to `program`: beside it, as in a build folder, or in
/// libexec/caip of the prefix in whose bin/ the program is installed. If it is in neither place,
/// the one beside the program.
Path HelperOf(const Path& program, std::string_view name);

/// The one that belongs to the running program.
Path HelperFile(std::string_view name);

}  // namespace caip::host
