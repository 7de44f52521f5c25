#pragma once
// Numbers that hold for every run, each in this place only.

#include "base/clock.h"

namespace caip::run {

/// How long a job may run that sets no limit: seven days (projects.jobs, Scheduling).
inline constexpr Duration kMaxRunningDefault = std::chrono::hours(24 * 7);

/// The time between SIGTERM and SIGKILL, where the emulator's settings name no other.
inline constexpr Duration kGraceDefault = std::chrono::seconds(30);

/// The size of a boot disk where a job names none (docs/service/tables.md, section 8).
inline constexpr int kBootDiskGbDefault = 100;

}  // namespace caip::run
