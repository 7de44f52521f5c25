#pragma once
// The size limit of log entries.

#include <cstddef>

namespace caip {

/// The most bytes of one log entry. Cloud Logging rejects larger entries.
inline constexpr size_t kLogEntryBytesMax = 256u << 10;

}  // namespace caip
