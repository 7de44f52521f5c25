#pragma once
// Turns a line of a trainer into the steps that it reports, or into a log line.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/events/event.h"
#include "harness/events/step_formats.h"

namespace caip::harness {

/// How a trainer reports its steps. At most one is set; neither: JSON objects with a whole number
/// under "step".
struct StepSource {
  std::string format = {};  // a name of StepFormats()
  std::string regex = {};   // RE2; a match that names `step`. Its other named groups are fields
  bool operator==(const StepSource&) const = default;
};

/// Any thread.
class StepReader {
 public:
  explicit StepReader(const StepSource& source = {});
  ~StepReader();
  StepReader(StepReader&&) noexcept;
  /// A StepEvent for each step that the line reports, else a LogEvent. A format may need the lines
  /// of a replica in their order.
  std::vector<Event> Read(const std::string& replica, const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Describes a mistake in the pattern; nullopt for a regular expression with a group named `step`.
std::optional<std::string> StepPatternProblem(const std::string& pattern);

}  // namespace caip::harness
