#pragma once
// Every number of the rules that is not in the catalog, with the page it comes from.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace caip::ml {

// Job ids and packages: docs/service/api.md, section 7.
inline constexpr size_t kJobIdLengthMax = 128;
inline constexpr size_t kPackagesMax = 100;

// Scheduling: docs/service/api.md, section 7.
inline constexpr Duration kMaxWaitTimeMin = std::chrono::seconds(1800);
inline constexpr int32_t kPriorityMax = 1000;

// docs/service/tables.md, section 8. The bounds are those of the successor.
inline constexpr int32_t kBootDiskGbMin = 100;
inline constexpr int32_t kBootDiskGbMax = 64000;

// Ours: the service documents no ceiling, but a cluster must be planned in memory.
inline constexpr int64_t kReplicasMax = 10000;
inline constexpr int32_t kParallelTrialsMax = 10000;

}  // namespace caip::ml
