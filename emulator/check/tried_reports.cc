#include "emulator/check/tried_reports.h"

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace caip::check {
namespace {

constexpr size_t kFileBytesMax = 1u << 20;  // the library keeps a hundred lines

bool IsBeside(const std::string& key) {
  return key == "global_step" || key == "timestamp" || key == "trial";
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void Read(const std::string& where, const std::string& text,
          std::vector<harness::TriedReport>& reports) {
  std::set<std::string> known;
  for (const std::string& line : Split(text, '\n')) {
    const auto json = ParseJson(line);
    if (Trim(line).empty()) continue;
    if (!json.ok() || !json->is_object()) {
      if (known.insert("").second) reports.push_back({where, "", std::string(Trim(line))});
      continue;
    }
    for (const auto& [key, value] : json->items()) {
      if (!IsBeside(key) && known.insert(key).second)
        reports.push_back({where, key, TextOf(value)});
    }
  }
}

}  // namespace

std::vector<harness::TriedReport> TriedReports(const engine::MetricSource& source) {
  std::vector<harness::TriedReport> reports;
  const auto text = ReadFileUpTo(source.file, kFileBytesMax);
  if (text.ok()) Read("the metric file", *text, reports);
  return reports;
}

}  // namespace caip::check
