#pragma once
// The seccomp filter by which a watched replica's calls wait for caip's answer. It is inherited by
// everything the replica starts.

#include <cstdint>

namespace caip::host::launcher {

/// Puts the filter on the calling process and returns the descriptor on which its calls are heard;
/// -1 with errno. `watch` is of protocol.h. System calls only: our memory may be borrowed.
int InstallWatch(uint32_t watch);

}  // namespace caip::host::launcher
