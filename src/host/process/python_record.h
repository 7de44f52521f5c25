#pragma once
// A record of Python's `logging` as a replica's interpreter hands it over on stderr: a mark, then
// JSON, on one line. The writer is src/host/python/sitecustomize.py.

#include <optional>
#include <string>
#include <string_view>

#include "run/severity.h"

namespace caip::host {

/// Where the record of a line begins. Its first character, the ASCII record separator, is one that
/// nobody types and programs do not print.
inline constexpr std::string_view kPythonRecordMark =
    "\x1e"
    "caip-log:";

struct PythonRecord {
  run::Severity severity = run::Severity::kDefault;
  std::string message;
  std::string pathname;
  int line_number = 0;
  std::string thread;  // "" the main thread
};

/// Reads what stands behind the mark, up to the end of the line; nullopt where that is no record.
std::optional<PythonRecord> ParsePythonRecord(std::string_view json);

}  // namespace caip::host
