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

}  // namespace

Path StateDirectory(const EmulatorFlags& flags) {
  if (flags.state) return std::filesystem::absolute(*flags.state);
  const std::string state = OwnVariable("CAIP_STATE");
  if (!state.empty()) return std::filesystem::absolute(state);
  const std::string home = OwnVariable("XDG_STATE_HOME");
  const bool usable = home.starts_with('/');  // the XDG rule: relative paths are ignored
  return (usable ? Path(home) : HomeDirectory() / ".local" / "state") / "caip";
}

}  // namespace caip::app
