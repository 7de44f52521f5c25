#include <algorithm>

#include "emulator/cli/init/templates.h"

namespace caip::cli {
namespace {

constexpr std::string_view kCommon = "common";

}  // namespace

std::vector<std::string_view> TemplateKinds() {
  std::vector<std::string_view> kinds;
  for (const TemplateFile& file : TemplateFiles()) {
    const bool is_known = std::find(kinds.begin(), kinds.end(), file.kind) != kinds.end();
    if (file.kind != kCommon && !is_known) kinds.push_back(file.kind);
  }
  return kinds;
}

std::vector<TemplateFile> TemplatesOf(std::string_view kind) {
  std::vector<TemplateFile> files;
  for (const TemplateFile& file : TemplateFiles()) {
    if (file.kind == kind || file.kind == kCommon) files.push_back(file);
  }
  return files;
}

}  // namespace caip::cli
