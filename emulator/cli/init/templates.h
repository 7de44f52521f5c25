#pragma once
// The files that `caip init` writes. They are in init/templates, and compiled in.

#include <string_view>
#include <vector>

namespace caip::cli {

struct TemplateFile {
  std::string_view kind;  // "plain"; "common": of all kinds
  std::string_view path;  // below the new folder: "trainer/task.py"
  std::string_view text;
};

/// Made by module.cmake.
const std::vector<TemplateFile>& TemplateFiles();

/// "plain", "sklearn", ...: what a trainer can be made for.
std::vector<std::string_view> TemplateKinds();
/// The files of a kind, with those of all kinds.
std::vector<TemplateFile> TemplatesOf(std::string_view kind);

}  // namespace caip::cli
