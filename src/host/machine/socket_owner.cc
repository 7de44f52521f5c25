#include "host/machine/socket_owner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "host/process/orphans.h"

namespace caip::host {
namespace {

constexpr int kGenerationsMax = 64;
constexpr size_t kLocalField = 1;  // index of a field of /proc/net/tcp (man 5 proc)
constexpr size_t kInodeField = 9;

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

std::string Proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// "127.0.0.1:51234" in the table's form: "0100007F:C822" on a little-endian machine.
std::string TableForm(const std::string& client) {
  const size_t colon = client.rfind(':');
  in_addr address{};
  if (colon == std::string::npos ||
      ::inet_pton(AF_INET, client.substr(0, colon).c_str(), &address) != 1) {
    return "";
  }
  char text[16];
  std::snprintf(text, sizeof text, "%08X:%04X", address.s_addr,
                static_cast<unsigned>(std::atoi(client.c_str() + colon + 1)));
  return text;
}

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words = Split(line, ' ');
  std::erase(words, "");
  return words;
}

// The part of the process's marker after `prefix`; nullopt if it has no marker with that prefix.
std::optional<std::string> RestOfMarker(pid_t pid, const std::string& prefix) {
  const auto text = ReadFile(Proc(pid, "environ"));
  if (!text.ok()) return std::nullopt;
  const std::string wanted = std::string(kReplicaVariable) + "=" + prefix;
  for (const std::string& variable : Split(*text, '\0')) {
    if (variable.starts_with(wanted)) return variable.substr(wanted.size());
  }
  return std::nullopt;
}

pid_t ParentOf(pid_t pid) {
  const auto stat = ReadFile(Proc(pid, "stat"));  // "12 (name) S 1 ..."
  if (!stat.ok()) return 0;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat->size()) return 0;
  return std::atoi(stat->c_str() + name_end + 4);
}

// Looks for the marker in a process and its ancestors, because a program may have been started
// without the variable.
std::optional<std::string> RestOfMarkerAbove(pid_t pid, const std::string& prefix) {
  for (int i = 0; i < kGenerationsMax && pid > 1; ++i) {
    if (auto rest = RestOfMarker(pid, prefix)) return rest;
    pid = ParentOf(pid);
  }
  return std::nullopt;
}

bool Holds(pid_t pid, const std::string& link) {
  const std::string place = Proc(pid, "fd");
  const Directory directory(::opendir(place.c_str()), ::closedir);
  if (!directory) return false;
  while (const dirent* entry = ::readdir(directory.get())) {
    char target[64];
    const ssize_t size = ::readlink((place + "/" + entry->d_name).c_str(), target, sizeof target);
    if (size > 0 && std::string_view(target, static_cast<size_t>(size)) == link) return true;
  }
  return false;
}

std::vector<pid_t> ListProcesses() {
  std::vector<pid_t> all;
  const Directory directory(::opendir("/proc"), ::closedir);
  if (!directory) return all;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const pid_t pid = std::atoi(entry->d_name); pid > 0) all.push_back(pid);
  }
  return all;
}

}  // namespace

std::string InodeOfClient(std::string_view tcp_table, const std::string& client) {
  const std::string local = TableForm(client);
  for (const std::string& line : Split(tcp_table, '\n')) {
    const std::vector<std::string> words = Words(line);
    if (words.size() > kInodeField && !local.empty() && words[kLocalField] == local &&
        words[kInodeField] != "0") {
      return words[kInodeField];
    }
  }
  return "";
}

std::string TaskOfClient(const std::string& state_id, const engine::RunKey& run,
                         const std::string& client) {
  std::string prefix = state_id + "/" + run.project + "/" + run.job_id + "/";
  if (!run.trial.empty()) prefix += "trial-" + run.trial + "/";
  const std::vector<pid_t> processes = ListProcesses();
  std::string inode;  // any process of the run lists the connections of the run's network
  for (const pid_t pid : processes) {
    if (!RestOfMarker(pid, prefix)) continue;
    const auto table = ReadFile(Proc(pid, "net/tcp"));
    if (table.ok()) inode = InodeOfClient(*table, client);
    if (!inode.empty()) break;
  }
  if (inode.empty()) return "";
  for (const pid_t pid : processes) {
    if (!Holds(pid, "socket:[" + inode + "]")) continue;
    if (const auto rest = RestOfMarkerAbove(pid, prefix)) return rest->substr(0, rest->find('/'));
  }
  return "";
}

}  // namespace caip::host
