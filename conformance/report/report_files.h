#pragma once
// The files into which the reports of a run go.

#include <optional>
#include <string>
#include <vector>

#include "conformance/result.h"

namespace conform {

/// An option that asks for a report, and its value: a file, "-" for standard output, or "" for no
/// report.
struct ReportOption {
  const char* name;  // "--junit"
  std::string file;
};

/// A report that cannot be written, or two reports for standard output. It is called before any
/// case runs, and changes no file.
std::optional<Problem> CheckReportFiles(const std::vector<ReportOption>& options);

/// Writes a report; "" writes none, and "-" prints it. Returns false if that fails.
bool WriteReportFile(const std::string& file, const std::string& text);

}  // namespace conform
