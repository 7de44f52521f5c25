#pragma once
// The ways in which a failure of the power changes files.

#include <optional>
#include <string_view>

namespace caip::harness {

/// What was not synced, and is lost (harness/files/lost_files.h).
enum class PowerLoss {
  kContents,        // bytes that were written; names and sizes stay as they were set
  kOlderContents,   // the same, except for those of the file that was written last
  kNewestContents,  // only those of the file that was written last
  kNames,           // names; bytes that were written into files that stay are kept
};

inline constexpr PowerLoss kPowerLosses[] = {PowerLoss::kContents, PowerLoss::kNames,
                                             PowerLoss::kOlderContents, PowerLoss::kNewestContents};

/// "contents", "older_contents", "newest_contents", "names", as in a scenario.
constexpr std::string_view Name(PowerLoss lost) {
  constexpr std::string_view kNames[] = {"contents", "older_contents", "newest_contents", "names"};
  return kNames[static_cast<size_t>(lost)];
}

constexpr std::optional<PowerLoss> FindPowerLoss(std::string_view name) {
  for (const PowerLoss lost : kPowerLosses) {
    if (Name(lost) == name) return lost;
  }
  return std::nullopt;
}

}  // namespace caip::harness
