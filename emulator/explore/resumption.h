#pragma once
// How a replica resumes after a restart: what it reads, and the step at which it goes on.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/explore/exploring_tasks.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/recovery_comparison.h"

namespace caip::explore {

/// The first step that the replica reports in a boot that starts after the crash point of this run.
std::optional<int64_t> FirstStep(const harness::Evidence& run, const harness::CrashPoint& point);

/// The index of the event with which the replica has caught up: its first write after a step that
/// it had not done in the first `begin` events. From there on, a restart is like one in an
/// undisturbed run. The number of events if that never comes.
size_t CaughtUpAt(const std::vector<harness::Event>& events, size_t begin,
                  const std::string& replica);

/// "boot 2 read job/out/ckpt-10, then reported step 11": what the first boot after the crash point
/// read before it reported a step. "" if no boot started.
std::string DescribeResumption(const harness::Evidence& run, const harness::CrashPoint& point);

/// The flaw if a second restart resumed at the step `found`, before `wanted`, where a first restart
/// resumed.
std::optional<harness::Flaw> FindLoss(const harness::Baseline& baseline, const std::string& replica,
                                      std::optional<int64_t> wanted, std::optional<int64_t> found);

/// The flaw if the second restart of a pair resumes at an earlier step than the first one did,
/// although nothing that the first one used may be lost.
std::optional<harness::Flaw> FindLossOfPair(const harness::Baseline& baseline,
                                            const ExploreTask& task, const harness::Evidence& run);

}  // namespace caip::explore
