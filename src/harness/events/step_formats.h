#pragma once
// The ways in which well-known libraries, and most people, print the progress of a training.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace caip::harness {

/// A step that a line reports.
struct ReportedStep {
  int64_t step = 0;
  Json record;       // "step", and the values that the line names
  std::string line;  // the part of the line
};

/// What a format remembers between two lines of one replica.
struct StepContext {
  int64_t epoch = 0;
};

/// One way to report steps. Immutable; any thread.
struct StepFormat {
  std::string name;     // in scenarios: `steps: {format: keras}`
  std::string summary;  // for people
  /// The steps that a line reports.
  std::vector<ReportedStep> (*read)(std::string_view line, StepContext& context);
};

/// All formats, the most specific one first.
const std::vector<StepFormat>& StepFormats();
/// null: there is no such format.
const StepFormat* FindStepFormat(std::string_view name);
std::vector<std::string> StepFormatNames();

/// A line that a replica printed.
struct ReplicaLine {
  std::string replica;
  std::string text;
};
/// The format that finds the most different steps, at least two; of several, the most specific one.
/// null: the lines report no steps.
const StepFormat* GuessStepFormat(const std::vector<ReplicaLine>& lines);

}  // namespace caip::harness
