#pragma once
// The counts of expectations (3, 1.., 0..1), and the steps that they count.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/scenario/file_cursor.h"

namespace caip::harness {

struct Count {
  int64_t least = 0;
  int64_t most = INT64_MAX;
  bool Holds(int64_t count) const { return least <= count && count <= most; }
};

Count ReadCount(const Cursor& cursor);
std::string Text(const Count& count);

/// For each step its effective record: the last one that the replica wrote for it.
using StepRecords = std::map<int64_t, Json>;
StepRecords EffectiveSteps(const Evidence& run, const std::string& replica);
/// Replicas that reported steps.
std::set<std::string> ReplicasWithSteps(const Evidence& run);

/// The boot that a mapping's key names, from 1. Mistakes are reported at its value.
int BootOfKey(const std::string& key, const Cursor& value);

/// The numbers as ranges: "1..4, 7, 9..12".
std::string RangesText(const std::set<int64_t>& numbers);

}  // namespace caip::harness
