#pragma once
// Calls that wait in the kernel: seccomp user notification.

#include <memory>

#include "host/watch/call_source.h"

namespace caip::host {

/// `listener` is what launcher/watch_filter.h made. Ends when all who have the filter are dead.
std::unique_ptr<CallSource> KernelCalls(Fd listener);

}  // namespace caip::host
