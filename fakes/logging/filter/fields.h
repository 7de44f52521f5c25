#pragma once
// The fields of a LogEntry that a filter can name, and the kinds of their values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caip::logging {

enum class FieldKind {
  kText,
  kNumber,
  kFlag,
  kTime,
  kDuration,
  kSeverity,
  kFree,     // inside a payload, or a label: of any type
  kMessage,  // has members of its own: labels, resource, jsonPayload, ...
};

/// A resolved field, with its JSON names (log_name in a filter is logName here).
struct FilterField {
  std::vector<std::string> path;
  FieldKind kind = FieldKind::kText;
  bool operator==(const FilterField&) const = default;
};

/// Converts "log_name" to "logName".
std::string LowerCamelCase(std::string_view name);

/// nullopt: a LogEntry has no such field.
std::optional<FilterField> ResolveField(const std::vector<std::string>& segments);

/// Returns 500 for "error", "Error" and "500"; nullopt if the text is not a severity.
std::optional<int> SeverityNumber(std::string_view text);
/// Returns "ERROR" for 500, and the next lower name for a number without a name.
std::string_view SeverityName(int number);

}  // namespace caip::logging
