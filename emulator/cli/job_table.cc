#include "emulator/cli/job_table.h"

#include <algorithm>

#include "base/json.h"
#include "emulator/cli/yaml_text.h"

namespace caip::cli {

std::string JobTable(const std::vector<Json>& jobs) {
  std::vector<std::vector<std::string>> rows = {{"JOB_ID", "STATUS", "CREATED"}};
  for (const Json& job : jobs) {
    rows.push_back(
        {StringOr(job, "jobId"), StringOr(job, "state"), LocalDate(StringOr(job, "createTime"))});
  }
  size_t widths[2] = {0, 0};
  for (const auto& row : rows) {
    for (size_t i = 0; i < 2; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (auto& row : rows) {
    for (size_t i = 0; i < 2; ++i) {
      row[i].resize(widths[i] + 2, ' ');
      text += row[i];
    }
    text += row[2] + "\n";
  }
  return text;
}

}  // namespace caip::cli
