#pragma once
// The fields of a LogEntry that a filter can name, and what kind of value each has.

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
  kFree,     // below a payload, or a label: the entry tells what it is
  kMessage,  // has members of its own: labels, resource, jsonPayload, ...
};

/// A resolved field: JSON names, whatever spelling the filter used.
struct FilterField {
  std::vector<std::string> path;
  FieldKind kind = FieldKind::kText;
  bool operator==(const FilterField&) const = default;
};

/// log_name and logName are the same. nullopt: a LogEntry has no such field.
std::optional<FilterField> ResolveField(const std::vector<std::string>& segments);

/// "error", "Error", "500" -> 500; nullopt for what is no severity.
std::optional<int> SeverityNumber(std::string_view text);
/// 500 -> "ERROR"; the name below for what lies between.
std::string_view SeverityName(int number);

}  // namespace caip::logging
