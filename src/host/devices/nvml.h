#pragma once
// NVIDIA's management library, loaded at run time: caip works without it and does not link it.

#include <string>
#include <vector>

#include "base/result.h"
#include "host/devices/gpu.h"

namespace caip::host {

/// The GPUs that a library (a name for dlopen) reports, by PCI bus ID. A GPU in MIG mode is left
/// out, its instances are there instead. kNotFound: the library does not exist. kUnavailable: it or
/// the driver does not work.
Result<std::vector<Gpu>> AskNvml(const std::string& library_name);

}  // namespace caip::host
