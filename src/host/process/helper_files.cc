#include "host/process/helper_files.h"

#include <filesystem>
#include <system_error>

namespace caip::host {

Path HelperOf(const Path& program, std::string_view name) {
  const Path folder = program.parent_path();
  const Path installed = folder.parent_path() / "libexec" / "caip" / name;
  std::error_code error;
  const bool is_beside = std::filesystem::exists(folder / name, error);
  return !is_beside && std::filesystem::exists(installed, error) ? installed : folder / name;
}

Path HelperFile(std::string_view name) {
  std::error_code error;
  return HelperOf(std::filesystem::read_symlink("/proc/self/exe", error), name);
}

}  // namespace caip::host
