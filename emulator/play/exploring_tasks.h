#pragma once
// What an exploration tries: a restart, from the beginning or from the buckets as they were.

#include <optional>
#include <string>
#include <vector>

#include "emulator/play/recorder.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_judge.h"
#include "harness/scenario.h"

namespace caip::play {

/// A point that is to be tried.
struct ExploreTask {
  harness::CrashPoint point;
  std::optional<harness::CrashPoint> second;  // in the recovery of the first
  BucketState begin;                          // of recorded ones
  std::vector<harness::Happening> prefix;     // likewise: what had happened
};

/// What came of it.
struct ExploreOutcome {
  std::vector<harness::Flaw> flaws;
  std::optional<int64_t> first_step;
};

/// The scenario without its faults and expectations.
harness::Scenario InPeace(harness::Scenario scenario);

/// The recovery's own events behind what was before it: one run with a restart.
harness::Evidence Joined(const ExploreTask& task, harness::Evidence recovery);

/// The first step that the replica reports in a boot that begins behind so many events.
std::optional<int64_t> FirstStep(const harness::Evidence& run, size_t behind,
                                 const std::string& replica);

/// How many of the first events are replicas' own.
size_t CountOfReplicas(const harness::Evidence& run, size_t first = SIZE_MAX);

}  // namespace caip::play
