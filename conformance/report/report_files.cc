#include "conformance/report/report_files.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "conformance/problems.h"

namespace conform {
namespace {

namespace fs = std::filesystem;

bool IsWritable(const std::string& file) {
  std::error_code code;
  const fs::file_status status = fs::status(file, code);
  const bool is_present = fs::exists(status);
  // A pipe would wait for its reader here.
  if (is_present && !fs::is_regular_file(status)) return !fs::is_directory(status);
  const bool is_writable = std::ofstream(file, std::ios::app).is_open();
  if (is_writable && !is_present) fs::remove(file, code);
  return is_writable;
}

}  // namespace

std::optional<Problem> CheckReportFiles(const std::vector<ReportOption>& options) {
  const char* printed = nullptr;
  for (const ReportOption& option : options) {
    if (option.file.empty()) continue;
    if (option.file != "-") {
      if (!IsWritable(option.file)) return problems::ReportUnwritable(option.name, option.file);
      continue;
    }
    if (printed) return problems::ReportsPrinted(printed, option.name);
    printed = option.name;
  }
  return std::nullopt;
}

bool WriteReportFile(const std::string& file, const std::string& text) {
  if (file.empty()) return true;
  if (file == "-") {
    std::cout << text;
    return true;
  }
  return static_cast<bool>(std::ofstream(file, std::ios::binary) << text);
}

}  // namespace conform
