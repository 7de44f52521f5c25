#pragma once
// The probe as a source package, made anew in every run, with the same bytes each time.

#include <string>

#include "conformance/result.h"

namespace conform {

/// The bytes of a .tar.gz with all Python files of `folder` below "caip_probe-1.0/".
Result<std::string> ProbePackage(const std::string& folder);

}  // namespace conform
