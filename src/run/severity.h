#pragma once
// The severities of Cloud Logging that occur here.

#include <string_view>

namespace caip::run {

/// How bad a log entry is; in ascending order.
enum class Severity {
  kDefault,
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency
};

/// "DEFAULT", "INFO", ...; the names of LogSeverity.
constexpr std::string_view Name(Severity severity) {
  constexpr std::string_view kNames[] = {"DEFAULT", "DEBUG",    "INFO",  "NOTICE",   "WARNING",
                                         "ERROR",   "CRITICAL", "ALERT", "EMERGENCY"};
  return kNames[static_cast<int>(severity)];
}

}  // namespace caip::run
