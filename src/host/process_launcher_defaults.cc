// What a process launcher takes of this host where nobody tells it otherwise.

#include <cstdlib>

#include "host/process_launcher.h"

namespace caip::host {

Path LauncherBesideUs() {
  std::error_code error;
  const Path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path() / "caip-launcher";
}

int64_t OomKillsOfHost() {
  const auto text = ReadFile("/proc/vmstat");
  if (!text.ok()) return 0;
  const size_t line = text->find("\noom_kill ");
  return line == std::string::npos ? 0 : std::atoll(text->c_str() + line + 10);
}

}  // namespace caip::host
