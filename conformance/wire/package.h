#pragma once
// The probe as a source package. Every run builds it, with the same bytes.

#include <string>

#include "conformance/result.h"

namespace conform {

/// A .tar.gz with all Python files of `folder` below "caip_probe-1.0/".
Result<std::string> ProbePackage(const std::string& folder);

}  // namespace conform
