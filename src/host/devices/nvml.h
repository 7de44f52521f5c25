#pragma once
// NVIDIA's management library, loaded at run time: caip neither needs it nor links with it.

#include <string>
#include <vector>

#include "host/devices/devices.h"

namespace caip::host {

/// The GPUs that the library at `library` (a name for dlopen) tells of, by PCI bus id. kNotFound:
/// there is no such library; kUnavailable: it or the driver does not work.
Result<std::vector<Gpu>> AskNvml(const std::string& library);

}  // namespace caip::host
