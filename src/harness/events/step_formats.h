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
  /// false: guessed only if it describes the lines of a first choice better, or if there is none.
  bool is_first_choice = true;
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
/// The first choice that finds the most different steps, at least two; of several, the most
/// specific one. Instead of "step", "epoch_step" and "epoch", the format that takes only lines with
/// values, if at most one step of each replica has none. Without a first choice, the format of all
/// lines that name steps. null: the lines report no steps.
const StepFormat* GuessStepFormat(const std::vector<ReplicaLine>& lines);

}  // namespace caip::harness
