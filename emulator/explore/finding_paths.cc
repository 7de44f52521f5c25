#include "emulator/explore/finding_paths.h"

#include <filesystem>
#include <system_error>

namespace caip::explore {

Path SeenFrom(const Path& folder, const Path& file) {
  std::error_code error;
  const Path from =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
  Path to = std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  if (!to.has_filename()) to = to.parent_path();  // "trainer/"
  const auto below_root = [](const Path& path) { return *path.relative_path().begin(); };
  const bool apart =
      !from.has_relative_path() || !to.has_relative_path() || below_root(from) != below_root(to);
  return apart ? to : to.lexically_relative(from);
}

}  // namespace caip::explore
