#include "host/process/process_status.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace caip::host {
namespace {

// The words after a name; empty if there are none.
std::vector<std::string> StatusOf(pid_t process, const std::string& name) {
  const auto status = ReadFile("/proc/" + std::to_string(process) + "/status");
  const size_t line = status.ok() ? status->find("\n" + name + ":\t") : std::string::npos;
  if (line == std::string::npos) return {};
  const size_t begin = line + name.size() + 3;
  return Split(status->substr(begin, status->find('\n', begin) - begin), '\t');
}

uint32_t IdIn(const std::string& text) {
  return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

// The second of four IDs.
uint32_t EffectiveOf(pid_t process, const std::string& name) {
  const std::vector<std::string> ids = StatusOf(process, name);
  return ids.size() < 2 ? 0 : IdIn(ids[1]);
}

}  // namespace

// The last of its IDs.
pid_t InnerIdOf(pid_t process) {
  const std::vector<std::string> ids = StatusOf(process, "NSpid");
  return ids.empty() ? 0 : static_cast<pid_t>(IdIn(ids.back()));
}

uid_t EffectiveUserOf(pid_t process) { return EffectiveOf(process, "Uid"); }

gid_t EffectiveGroupOf(pid_t process) { return EffectiveOf(process, "Gid"); }

// The only line whose words are separated by blanks.
std::vector<gid_t> GroupsOf(pid_t process) {
  std::vector<gid_t> groups;
  const std::vector<std::string> lines = StatusOf(process, "Groups");
  if (lines.empty()) return groups;
  for (const std::string& word : Split(lines.front(), ' ')) {
    if (!word.empty()) groups.push_back(IdIn(word));
  }
  return groups;
}

}  // namespace caip::host
