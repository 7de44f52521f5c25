#pragma once
// Every number of the rules that is not in the catalog, with the section it comes from.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace caip::vertex {

// docs/service/vertex.md, section 3.
inline constexpr size_t kDisplayNameMax = 128;  // characters
inline constexpr size_t kPoolsMax = 4;
inline constexpr size_t kPackagesMax = 100;
inline constexpr size_t kEnvVarsMax = 100;
inline constexpr size_t kArgsMax = 100'000;  // characters of one pool
inline constexpr Duration kMaxWaitDefault = std::chrono::hours(24);
inline constexpr Duration kFlexStartTimeoutMax = std::chrono::hours(24 * 7);
inline constexpr int kSpotRestartsMax = 6;

// docs/service/tables.md, section 8.
inline constexpr int32_t kBootDiskGbMin = 100;
inline constexpr int32_t kBootDiskGbMax = 64000;

// The kernel's: the bytes of one variable, and of all that a program is started with (execve(2)).
inline constexpr size_t kVariableBytesMax = 128 * 1024;
inline constexpr size_t kEnvironmentBytesMax = 2 * 1024 * 1024;

// Ours: each replica's environment names all replicas.
inline constexpr int64_t kReplicasMax = 1'000;

// docs/service/vertex.md, section 8.
inline constexpr double kDiscreteValueGapMin = 1e-10;
inline constexpr int64_t kFailedTrialsFirst = 1;     // of max_failed_trial_count 0
inline constexpr int64_t kFailedTrialsMajority = 4;  // the same

// Ours: a study must be planned in memory.
inline constexpr int64_t kTrialsMax = 100'000;
inline constexpr int64_t kParallelTrialsMax = 10'000;
inline constexpr size_t kStudyParametersMax = 1000;  // with those of conditions

}  // namespace caip::vertex
