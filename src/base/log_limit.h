#pragma once
// The size limit of log entries.

#include <cstddef>

namespace caip {

/// The most bytes of one log entry. Cloud Logging refuses larger ones.
inline constexpr size_t kLogEntryBytesMax = 256u << 10;

}  // namespace caip
