#pragma once
// The numbers of steps and epochs that a line names, and whether the line reports them or is about
// a checkpoint.

#include <cstdint>
#include <optional>
#include <string_view>

namespace caip::harness {

struct StepNumbers {
  std::optional<int64_t> epoch;
  std::optional<int64_t> step;
  std::optional<int64_t> batch;  // of "Epoch: [3][ 20/30]"
};

/// The whole number of at most twelve digits; nullopt for other texts.
std::optional<int64_t> WholeNumber(std::string_view text);

/// The numbers in a line that reports progress: "step 20", "Epoch [3/10]", "Epoch: [3][ 20/30]".
/// Without numbers after words about a checkpoint or a start ("resuming from step 4"), and without
/// totals ("epochs=10").
StepNumbers ReportedNumbers(std::string_view line);
/// The numbers in any line.
StepNumbers NamedNumbers(std::string_view line);

/// Whether the line names a value other than numbers of steps: "loss=0.5", "loss: nan", "loss 0.5".
/// A whole number after a space is not one: "step 4 of 20".
bool HasValues(std::string_view line);

}  // namespace caip::harness
