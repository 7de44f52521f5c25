#include "emulator/app/settings/emulator_flags.h"

#include <cstdlib>

namespace caip::app {

std::string OwnVariable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

namespace {

Path HomeDirectory() {
  const std::string home = OwnVariable("HOME");
  return home.empty() ? "/" : home;
}

Path NamedState(const EmulatorFlags& flags) {
  if (flags.state) return *flags.state;
  const std::string state = OwnVariable("CAIP_STATE");
  if (!state.empty()) return state;
  const std::string home = OwnVariable("XDG_STATE_HOME");
  const bool usable = home.starts_with('/');  // the XDG rule: relative paths are ignored
  return (usable ? Path(home) : HomeDirectory() / ".local" / "state") / "caip";
}

// Machines have the bucket directories at the same paths as the host. A link or `..` in such a path
// would lead elsewhere there, and one directory would have two names.
Path WithoutLinks(const Path& path) {
  std::error_code error;
  const Path absolute = std::filesystem::absolute(path, error);
  Path canonical = std::filesystem::weakly_canonical(absolute, error);
  if (error) return absolute;
  return canonical.has_filename() ? canonical : canonical.parent_path();
}

}  // namespace

Path StateDirectory(const EmulatorFlags& flags) { return WithoutLinks(NamedState(flags)); }

}  // namespace caip::app
