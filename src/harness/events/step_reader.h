#pragma once
// Turns a line of a trainer into the step that it reports, or into a log line.

#include <memory>
#include <optional>
#include <string>

#include "harness/events/event.h"

namespace caip::harness {

/// Any thread. Without a pattern, a step is a JSON object with a whole number under "step". With a
/// pattern (RE2), it is a match that names `step`. Its other named groups are the record's fields.
class StepReader {
 public:
  explicit StepReader(const std::string& pattern = "");
  /// A StepEvent if the line reports a step, else a LogEvent.
  Event Read(const std::string& line) const;

 private:
  struct Pattern;
  std::shared_ptr<const Pattern> pattern_;
};

/// Describes a mistake in the pattern; nullopt for a regular expression with a group named `step`.
std::optional<std::string> StepPatternProblem(const std::string& pattern);

}  // namespace caip::harness
